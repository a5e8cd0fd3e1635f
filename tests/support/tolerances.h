// What "equal" means, in one place: the tolerances of every comparison with the reference and between our own runs.
// Norms are Euclidean; d is the difference, g the expected gradient of one parameter, g_all that of all parameters.
#pragma once

namespace bertft::test {

// Equal to the reference, fp32, no dropout.
constexpr double kLogitAbsolute = 1e-5;         // |d| <= kLogitAbsolute + kLogitRelative |x|
constexpr double kLogitRelative = 1e-5;         //
constexpr double kGradientRelative = 1e-4;      // ||d|| <= kGradientRelative ||g|| + kGradientOfAll ||g_all||: key
constexpr double kGradientOfAll = 1e-7;         // biases have zero gradient in theory and rounding noise in practice
constexpr double kFp32StepLoss = 1e-4;          // |d| of the losses of 20 optimizer steps
constexpr double kFp32StepNormRelative = 1e-4;  // of the gradient norms of these steps
constexpr double kUndecidedMargin = 1e-5;       // labels may differ only where the two best logits are this close

// Equal to the reference, both sides fp64. The trace prints nine digits.
constexpr double kFp64StepLoss = 1e-8;           // |d| of the losses of 200 optimizer steps
constexpr double kTraceRelative = 1e-8;          // learning rates and gradient norms
constexpr double kFp64GradientRelative = 1e-10;  // as kGradientRelative
constexpr double kFp64GradientOfAll = 1e-13;     // as kGradientOfAll

// bf16: logits within kSpreads of the reference's own spread between sums in fp32 and in fp64.
constexpr double kBf16LossShare = 0.5;  // losses of 20 steps, root mean square: of how far the reference in fp32 is
constexpr double kBf16FromFp32 = 2e-2;  // ||d|| / ||x|| of all logits, against fp32

// Equal up to summation: other micro-batches or threads, dropout on.
constexpr double kStepGradient = 1e-5;  // ||d|| / ||g|| over all parameters, one step
constexpr double kStepLoss = 1e-4;      // |d| of the losses of 20 steps
constexpr double kSpreads = 2.0;        // 50-step weights, bf16: in units of the reference's own spread
constexpr double kProbability = 1e-5;   // |d| of predicted probabilities

}  // namespace bertft::test
