// Who sends to whom when n participants combine a value by dissemination: in phase p each sends what it has to the one
// 2^p places further and combines what it has with what comes from 2^p places before. After ceil(log2 n) phases
// everyone has everyone's, for any n, provided that combining a value twice does no harm (AND, OR, MIN, MAX). Source:
// Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
#pragma once

namespace bertft {

class Dissemination {
 public:
  Dissemination() = default;
  // REQUIRES 0 <= self < size.
  Dissemination(int self, int size);

  int self() const { return self_; }
  int size() const { return size_; }
  int phases() const { return phases_; }  // ceil(log2 size)
  // REQUIRE 0 <= phase < phases(). Different phases have different partners, so the messages of a pair (from, to) all
  // belong to one phase, and reach the receiver round by round.
  int send_to(int phase) const;
  int receive_from(int phase) const;

 private:
  int self_ = 0;
  int size_ = 1;
  int phases_ = 0;
};

}  // namespace bertft
