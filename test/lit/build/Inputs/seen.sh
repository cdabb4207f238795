# What ccache and incc have done since the last time, and whose object dot.o is.
of() { awk -v name="$2" '$1 == name { n += $2 } END { print n + 0 }' "$1"; }
found=0
for kind in direct_cache_hit preprocessed_cache_hit; do
  found=$((found + $(of stats $kind) - $(of stats.before $kind)))
done
missed=$(($(of stats cache_miss) - $(of stats.before cache_miss)))
mv stats stats.before
compiler=neither
cmp -s dot.o other.o && compiler=other
cmp -s dot.o 11.o && compiler="gcc 11"
reports=$(find r -name "*.json" | wc -l) # written, or waiting to be
echo "$found found, $missed missed, $compiler, $((reports)) report$([ "$reports" -eq 1 ] || echo s)"
rm -rf dot.o r
mkdir r
