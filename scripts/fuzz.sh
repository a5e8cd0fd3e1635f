#!/bin/bash
# Fuzzes the data readers with libFuzzer under ASan and UBSan. Usage: scripts/fuzz.sh [SECONDS, 10 by default]
# Needs clang and libclang-rt (installed when missing). What was found stays in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-10}"
if ! command -v clang++-14 >/dev/null || ! ls /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1; then
  apt-get install -y --no-install-recommends clang-14 libclang-rt-14-dev >/dev/null
fi
folder=build/fuzz
mkdir -p "$folder/corpus"
rm -f "$folder"/*.o
sources=(tests/fuzz/readers_fuzz.cpp src/tokenize/utf8.cpp src/core/{text,files,option_table}.cpp
  src/data/{byte_source,columns,csv_reader,data_path,delimited_reader,faults,file_rows,format,json_scanner,json_text}.cpp
  src/data/{jsonl_reader,line_reader,options,record_reader,row_sink,row_stream,schema,table,text_arena,text_decoders}.cpp
  src/data/{text_folder,text_source}.cpp)
echo "building $folder/readers_fuzz"
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c \
  'clang++-14 -std=c++20 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -Isrc -c {} \
   -o '"$folder"'/$(echo {} | tr / _).o'
clang++-14 -fsanitize=fuzzer,address,undefined "$folder"/*.o -o "$folder/readers_fuzz" -lfmt -lpthread
"$folder/readers_fuzz" -max_total_time="$seconds" -max_len=2000 -artifact_prefix="$folder/" -print_final_stats=1 "$folder/corpus"
