-- Reads what is known about a fleet. It writes nothing, and looks at no single process.
--
-- KEYS: as in script.lua
-- Reply: the fields below, then the number of processes, what the key of the switch holds (1 if it exists, its text, the time
-- that is left in milliseconds), the time of the store as script.lua computes it, and
-- the two programs.
local key, switch, deadlines = KEYS[1], KEYS[2], KEYS[3]
local names = {'epoch', 'missing', 'capacity', 'timed_out', 'rate', 'estimate', 'satisfied', 'waiting',
  'turned', 'off_until', 'reason', 'now', 'clock', 'program', 'second_program'}
local read = redis.call('HMGET', key, unpack(names))
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now = (tonumber(read[12] or '') or clock) + math.max(0, clock - (tonumber(read[13] or '') or clock))
if not (now >= 0 and now <= 2 ^ 43) then now = clock end
local members = redis.call('ZCOUNT', deadlines, string.format('(%.0f', now), '+inf')
local text, left = redis.pcall('GET', switch), redis.call('PTTL', switch)
local reply = {}
for i = 1, 11 do reply[i] = read[i] or '' end
reply[12] = string.format('%.0f', members)
reply[13] = text and '1' or ''
-- A key of another type is not text.
reply[14] = type(text) == 'string' and string.sub(text, 1, 512) or ''
reply[15] = string.format('%.0f', left)
reply[16] = string.format('%.0f', now)
reply[17], reply[18] = read[14] or '', read[15] or ''
return reply
