-- Numbers, tables, text, closures and errors: `lua work.lua FILE REPEAT`.
local file = assert(io.open(arg[1], 'rb'))
local text = file:read(1000000)
file:close()

local function sieve(most)
  local composite, found = {}, 0
  for i = 2, most do
    if not composite[i] then
      found = found + 1
      for j = i * i, most, i do composite[j] = true end
    end
  end
  return found
end

local function bodies(steps)
  local x, y, vx, vy = {}, {}, {}, {}
  for i = 1, 8 do x[i], y[i], vx[i], vy[i] = i, i * i % 7, 0, 0 end
  for _ = 1, steps do
    for i = 1, 8 do
      for j = 1, 8 do
        if i ~= j then
          local dx, dy = x[j] - x[i], y[j] - y[i]
          local d = (dx * dx + dy * dy + 0.1) ^ -1.5 * 0.001
          vx[i], vy[i] = vx[i] + dx * d, vy[i] + dy * d
        end
      end
    end
    for i = 1, 8 do x[i], y[i] = x[i] + vx[i], y[i] + vy[i] end
  end
  return x[1] + y[8]
end

local sum = 0
for again = 1, tonumber(arg[2]) do
  local counts = {}
  for word in text:gmatch('%a+') do counts[word] = (counts[word] or 0) + 1 end
  local words = {}
  for word in pairs(counts) do words[#words + 1] = word end
  table.sort(words, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  if again == 1 then print(table.concat(words, ' ', 1, 100)) end
  local replaced = text:lower():gsub('the (%a+)', '%1 it'):rep(2)
  local failed = 0
  for i = 1, 2000 do
    if not pcall(function() if i % 3 == 0 then error('three') end return counts[i].field end) then failed = failed + 1 end
  end
  sum = sum + sieve(200000) + bodies(2000) + #replaced + failed
end
print(('%.10g'):format(sum))
