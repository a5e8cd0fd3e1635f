// Where each parameter lies in the flat buffers of weights, gradients and moments, and how the buffer is cut into
// units, the pieces that communication, clipping and the optimizer work on. A pure function of names and shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bertft {

// What a model says of a parameter. The order of a list of these is the order in which backward finishes them.
struct ParameterSpec {
  std::string name;  // published name, for example encoder.layer.0.attention.self.query.weight
  std::vector<int64_t> shape;
  bool is_lookup_table = false;     // [rows, width]: gradients touch single rows
  bool has_weight_decay = true;     // false for biases and LayerNorm
  bool continues_previous = false;  // lies right behind the one before, without alignment: both form one matrix
  int depth = 0;                    // layers below the head: 0 the head, 1 the last layer, L + 1 the embeddings
  bool is_trainable = true;         // false: it has no gradient and no place in the optimizer
};

struct LayoutEntry {
  ParameterSpec spec;
  int64_t offset = 0;      // elements from the start of the buffer; aligned unless it continues the previous one
  int64_t size = 0;        // elements
  int64_t norm_block = 0;  // elements per block of a norm's partial sums; blocks restart at each parameter
  int first_unit = 0;      // units first_unit..last_unit overlap this parameter; none (0..-1) when it is frozen
  int last_unit = -1;
};

// Elements [begin, end) of the flat buffer; begin is a multiple of kAlignmentElements, units are contiguous.
struct LayoutUnit {
  int64_t begin = 0;
  int64_t end = 0;
};

constexpr int64_t kAlignmentElements = 16;    // 64 bytes of fp32
constexpr int64_t kNormBlockElements = 4096;  // lookup tables: one row instead

struct Layout {
  std::vector<LayoutEntry> entries;
  std::vector<LayoutUnit> units;
  int64_t total = 0;            // elements of the buffer of weights, gaps of the alignment included
  int64_t trainable_total = 0;  // elements of the buffers of gradients and moments: frozen parameters come last

  // Index of the entry called `name`; -1 when there is none.
  int find(const std::string& name) const;
  // Sum of the sizes of all entries, without gaps.
  int64_t parameter_count() const;
  // The same over the parameters that are trained.
  int64_t trainable_count() const;
  // Equal on two ranks exactly when names, shapes, offsets and units are.
  uint64_t hash() const;
  // The same without the units: what the flat buffers hold where.
  uint64_t parameters_hash() const;
};

constexpr int64_t kUnitPerParameter = 0;
// Large enough to be worth a message of their own, small enough to overlap with backward.
constexpr int64_t kDefaultUnitElements = 1 << 20;

// Small parameters share a unit of about `unit_elements`; one of at least that size has units of its own, split evenly
// on aligned borders. kUnitPerParameter: each parameter is one unit, and those that continue another between two
// borders belong to its unit. Units cover the trainable parameters. REQUIRES unit_elements >= 0, different names, and
// frozen parameters behind all trainable ones (backward order: what is frozen would come last).
Layout make_layout(const std::vector<ParameterSpec>& in_backward_order, int64_t unit_elements);

}  // namespace bertft
