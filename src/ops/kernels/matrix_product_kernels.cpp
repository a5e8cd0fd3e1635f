// Large matrix products, packed and cut into register tiles (Goto and van de Geijn 2008). For processors on which the
// BLAS leaves vector units idle; every element is summed in one order, whatever the number of threads.
#include <omp.h>

#include "ops/kernels/level_kernels.h"
#include "ops/kernels/vector.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {
namespace {

// A register tile: rows by two vectors of columns. Packed rows are stored as whole vectors, so they fit one.
#if defined(__AVX512F__)
constexpr int kTileRows = 14;
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 4;
#endif
constexpr int kTileVectors = 2;
constexpr int kTileColumns = kTileVectors * kWidth;
constexpr int64_t kMaxDepth = 256;     // of one pass: a packed panel of b then stays in the first-level cache
constexpr int64_t kTilesPerGroup = 8;  // packed rows of a that stay in the second-level cache
constexpr int64_t kTasksPerThread = 2;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

// Part `index` of 0 .. total - 1 cut into `parts` nearly equal pieces.
struct Range {
  int64_t begin, size;
};

Range piece(int64_t total, int64_t parts, int64_t index) {
  const int64_t begin = total * index / parts;
  return {begin, total * (index + 1) / parts - begin};
}

int64_t count_tiles(const MatrixProduct& call) { return divide_up(call.rows, kTileRows); }
int64_t count_panels(const MatrixProduct& call) { return divide_up(call.columns, kTileColumns); }

// The packed panels of b, [panel, depth, kTileColumns], lie in front, then one group of packed tiles of a per thread,
// [tile, depth of a pass, kTileRows]. Vectors stored for the last rows of a tile reach into the next one, or into a
// little slack behind the last.
constexpr int64_t kGroupFloats = kTilesPerGroup * kMaxDepth * kTileRows + kWidth;

float* packed_panel(const MatrixProduct& call, int64_t panel) {
  return call.scratch + panel * call.depth * kTileColumns;
}

float* packed_group(const MatrixProduct& call) {
  return packed_panel(call, count_panels(call)) + omp_get_thread_num() * kGroupFloats;
}

// to[k * step + i] = from[i * stride + k] for the given rows i and all k: a block of rows becomes columns. Elements up
// to a whole vector behind the last row become 0 (or are overwritten by the next k where step is less than a vector).
void pack_rows_as_columns(const float* from, int64_t stride, int64_t rows, int64_t depth, float* to, int64_t step) {
  for_each_vector(depth, [&](int64_t k, auto lanes) BERTFT_INLINE_BODY {
    Float block[kWidth] = {};
    for (int64_t i = 0; i < rows; ++i) {
      block[i] = load(from + i * stride + k, lanes);
    }
    transpose(block);
    const int64_t count = lesser(depth - k, kWidth);
    for (int64_t i = 0; i < count; ++i) {
      store(to + (k + i) * step, block[i]);
    }
  });
}

// to[k * step + i] = from[k * stride + i] for the given columns i, fewer than a vector or one, and all k.
void pack_columns(const float* from, int64_t stride, int64_t columns, int64_t depth, float* to, int64_t step) {
  for (int64_t k = 0; k < depth; ++k) {
    store(to + k * step, columns == kWidth ? load(from + k * stride) : load_part(from + k * stride, columns));
  }
}

void pack_tile(const MatrixProduct& call, Range rows, Range depth, float* to) {
  if (call.a_transposed) {
    const float* from = call.a.data + depth.begin * call.a.stride + rows.begin;
    pack_columns(from, call.a.stride, rows.size, depth.size, to, kTileRows);
  } else {
    const float* from = call.a.data + rows.begin * call.a.stride + depth.begin;
    pack_rows_as_columns(from, call.a.stride, rows.size, depth.size, to, kTileRows);
  }
}

void pack_panel(const MatrixProduct& call, int64_t panel) {
  for (int64_t v = 0; v < kTileVectors; ++v) {
    const int64_t column = panel * kTileColumns + v * kWidth;
    if (column >= call.columns) return;  // the tile reads one vector less
    const int64_t columns = lesser(call.columns - column, kWidth);
    float* to = packed_panel(call, panel) + v * kWidth;
    if (call.b_transposed) {
      pack_rows_as_columns(call.b.data + column * call.b.stride, call.b.stride, columns, call.depth, to, kTileColumns);
    } else {
      pack_columns(call.b.data + column, call.b.stride, columns, call.depth, to, kTileColumns);
    }
  }
}

// c = beta c + a b for one tile; beta 0 does not read c.
template <int kRows, int kVectors, typename LastLanes>
void multiply_packed(int64_t depth, const float* a, const float* b, float beta, Matrix c, LastLanes last) {
  Float sums[kRows][kVectors] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Float bk[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      bk[v] = load(b + v * kWidth);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Float aik = broadcast(a[i]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = multiply_add(aik, bk[v], sums[i][v]);
      }
    }
    a += kTileRows;
    b += kTileColumns;
  }
  const auto finish = [&](int i, int v, auto lanes) BERTFT_INLINE_BODY {
    float* to = c.data + i * c.stride + v * kWidth;
    Float x = sums[i][v];
    if (beta != 0.0f) x = multiply_add(broadcast(beta), load(to, lanes), x);
    store(to, x, lanes);
  };
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    if constexpr (kVectors == 2) finish(i, 0, AllLanes{});
    finish(i, kVectors - 1, last);
  }
}

struct Tile {
  int64_t depth;
  const float *a, *b;
  float beta;
  Matrix c;
};

template <int kRows>
void multiply_rows(const Tile& tile, int64_t columns) {
  if (columns >= kTileColumns) {
    multiply_packed<kRows, 2>(tile.depth, tile.a, tile.b, tile.beta, tile.c, AllLanes{});
  } else if (columns > kWidth) {
    multiply_packed<kRows, 2>(tile.depth, tile.a, tile.b, tile.beta, tile.c, SomeLanes{columns - kWidth});
  } else {
    multiply_packed<kRows, 1>(tile.depth, tile.a, tile.b, tile.beta, tile.c, SomeLanes{columns});
  }
}

// Calls multiply_rows<rows>: the number of rows becomes a constant.
template <int kRows = kTileRows>
void multiply_tile_of(int64_t rows, const Tile& tile, int64_t columns) {
  if (rows == kRows) return multiply_rows<kRows>(tile, columns);
  if constexpr (kRows > 1) multiply_tile_of<kRows - 1>(rows, tile, columns);
}

// A group of tiles by some panels, pass by pass over the depth.
void multiply_group(const MatrixProduct& call, Range tiles, Range panels) {
  const int64_t passes = divide_up(call.depth, kMaxDepth), tile_count = count_tiles(call);
  float* group = packed_group(call);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const Range depth = piece(call.depth, passes, pass);
    const int64_t tile_floats = depth.size * kTileRows;
    for (int64_t t = 0; t < tiles.size; ++t) {
      pack_tile(call, piece(call.rows, tile_count, tiles.begin + t), depth, group + t * tile_floats);
    }
    for (int64_t panel = panels.begin; panel < panels.begin + panels.size; ++panel) {
      const int64_t column = panel * kTileColumns;
      for (int64_t t = 0; t < tiles.size; ++t) {
        const Range rows = piece(call.rows, tile_count, tiles.begin + t);
        const Tile tile = {depth.size,
                           group + t * tile_floats,
                           packed_panel(call, panel) + depth.begin * kTileColumns,
                           pass == 0 ? call.beta : 1.0f,
                           {call.c.data + rows.begin * call.c.stride + column, call.c.stride}};
        multiply_tile_of(rows.size, tile, lesser(call.columns - column, kTileColumns));
      }
    }
  }
}

}  // namespace

int64_t product_scratch_floats(int64_t columns, int64_t depth, int64_t threads) {
  return depth * divide_up(columns, kTileColumns) * kTileColumns + threads * kGroupFloats;
}

void multiply_matrices(const MatrixProduct& call) {
  const int64_t tiles = count_tiles(call), panels = count_panels(call);
  const int64_t tile_groups = divide_up(tiles, kTilesPerGroup);
#pragma omp parallel
  {
    // Groups of rows are shared out; where there are too few for the threads, the columns are divided, too.
    const int64_t wanted = divide_up(kTasksPerThread * omp_get_num_threads(), tile_groups);
    const int64_t panel_groups = wanted < panels ? wanted : panels;
#pragma omp for schedule(static)
    for (int64_t panel = 0; panel < panels; ++panel) {
      pack_panel(call, panel);
    }
#pragma omp for schedule(static)
    for (int64_t task = 0; task < tile_groups * panel_groups; ++task) {
      multiply_group(call, piece(tiles, tile_groups, task / panel_groups),
                     piece(panels, panel_groups, task % panel_groups));
    }
  }
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
