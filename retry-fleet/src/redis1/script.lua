-- One call of a process. The twin of this script is store/memory.rs with store/memory/limit.rs, step by step.
--
-- KEYS: the hash of the fleet, the switch of the fleet
-- ARGV: 1 member, 2 known epoch or '', 3 fresh epoch, 4 ttl in ms, 5 leaving 1/0, 6 entries to look at,
--       7 quota 1/0, 8 capacity, 9 cost, 10 seen, 11 back, 12 want, 13 held, 14 hint,
--       15 limit 1/0, 16 accepted, 17 rejected, 18 demand or -1,
--       19 posted version or '', 20 accepted, 21 rejected, 22 rate, 23 state,
--       24 switch off for so many ms, 0 for on, or '',
--       25 known version of the limit, 26 posted estimate, 27 posted cut 1/0, 28 entry or 0,
--       29 known rate or '', 30 known estimate or ''
-- Reply: epoch, members, off 1/0, given, balance, room, capacity, rate or '', satisfied, waiting,
--        step version or '', now, accepted, rejected, state or '', version, cut, estimate or '',
--        ms since the last step, entry
local key, switch = KEYS[1], KEYS[2]
-- Numbers are doubles here. Whole numbers up to this one, and sums of two of them, are exact. What a process tells is cut
-- to it.
local most = 2 ^ 52
local function arg(i) return math.min(tonumber(ARGV[i]) or 0, most) end
-- What somebody else wrote into the hash and is not such a number counts as missing, "inf" and "nan" included.
local function number(text, least)
  local x = tonumber(text or '')
  if x and x >= least and x <= 2 * most then return x end
end
local is_text = {epoch = true, rate = true, estimate = true, state = true}

local names = {'now', 'clock', 'epoch', 'counted', 'members', 'capacity', 'capacity_until', 'balance', 'held',
  'rate', 'estimate', 'state', 'version', 'cut', 'stepped', 'offered_until', 'accepted', 'rejected', 'satisfied',
  'waiting', 'restored'}
local read, h = redis.call('HMGET', key, unpack(names)), {}
for i, name in ipairs(names) do
  if is_text[name] then h[name] = read[i] or ''
  else h[name] = number(read[i], name == 'balance' and -2 * most or 0) end
end

local id, known, ttl, leaving = 'm:' .. ARGV[1], ARGV[2] ~= '', arg(4), ARGV[5] == '1'
local has_quota, has_limit = ARGV[7] == '1', ARGV[15] == '1'

if h.epoch == '' then
  -- After its first write, a script may use more memory than the store has. So a state that was evicted is not written anew.
  if redis.call('EXISTS', key) == 1 then redis.call('DEL', key) end
  h = {epoch = ARGV[3], rate = '', estimate = '', state = ''}
end
-- The time of the store goes on with its clock. If that was set back, no time has passed since the last call.
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now = (h.now or clock) + math.max(0, clock - (h.clock or clock))
-- The year 2248. Later times are no times.
if now > 2 ^ 43 then now = clock end
h.now, h.clock, h.members, h.held = now, clock, h.members or 0, h.held or 0
h.version, h.cut, h.stepped, h.offered_until = h.version or 0, h.cut or 0, h.stepped or now, h.offered_until or 0
h.accepted, h.rejected, h.satisfied, h.waiting = h.accepted or 0, h.rejected or 0, h.satisfied or 0, h.waiting or 0
-- Numbers that do not fit to each other were not written by a call. With them, nothing would be measured or granted any more.
if h.version > 2 ^ 51 then h.version = 0 end
if h.cut > h.version then h.cut = 0 end
if h.stepped > now then h.stepped = now end
if h.offered_until > now + 1000 then h.offered_until = 0 end
if h.capacity and h.capacity > 4294967295 then h.capacity = nil end
if (h.capacity_until or 0) > now + 86400000 then h.capacity_until = now end
h.waiting = math.min(h.waiting, 4294967295)

-- A member: until, given, returned, holds, accepted, rejected, demand, time of its last call, entry, known 1/0.
local function parse(text)
  local m = {}
  for word in string.gmatch(text, '%S+') do m[#m + 1] = number(word, -1) end
  if #m == 10 then return m end
end
local function remember(m)
  if m[7] == -1 then h.waiting = h.waiting + 1 else h.satisfied = h.satisfied + m[7] end
end
local function forget(m)
  if m[7] == -1 then h.waiting = math.max(0, h.waiting - 1) else h.satisfied = math.max(0, h.satisfied - m[7]) end
end
local function leave(m)
  h.members, h.held = math.max(0, h.members - 1), math.max(0, h.held - m[4])
  forget(m)
end

local function format(m) return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f', unpack(m)) end
-- The silence after which a process no longer counts as sending.
local function longest_silence() return math.max(3000, 2 * h.members) end

-- Processes whose time is over leave. What they hold counts as spent.
if arg(6) > 0 then
  local looked = redis.call('HRANDFIELD', key, arg(6), 'WITHVALUES')
  for i = 1, #looked, 2 do
    if string.sub(looked[i], 1, 2) == 'm:' and looked[i] ~= id then
      local m = parse(looked[i + 1])
      if not m then redis.call('HDEL', key, looked[i])
      elseif m[1] < now then
        leave(m)
        redis.call('HDEL', key, looked[i])
      elseif now - m[8] > longest_silence() then
        -- It no longer counts as sending.
        forget(m)
        m[7] = 0
        redis.call('HSET', key, looked[i], format(m))
      end
    end
  end
end

-- Once a minute, the sums over all entries are taken anew, because somebody else may have written into the hash. The user of
-- the store need not have the permission for HGETALL.
if math.abs(now - (h.counted or 0)) >= 60000 then
  h.counted, h.members, h.held, h.satisfied, h.waiting = now, 0, 0, 0, 0
  local all = redis.call('HRANDFIELD', key, 1000000000, 'WITHVALUES')
  for i = 1, #all, 2 do
    local m = string.sub(all[i], 1, 2) == 'm:' and parse(all[i + 1])
    if m then
      h.members, h.held = h.members + 1, math.min(h.held + m[4], most)
      remember(m)
    end
  end
end

-- What this process knows belongs to a state that was lost.
local is_of_another_state = known and ARGV[2] ~= h.epoch
local text = redis.call('HGET', key, id)
local m, is_new = text and parse(text), false
if not m then
  -- The numbers of a process that has had an answer are for an entry that was forgotten. A new process brings its pocket,
  -- which is charged.
  m = {0, 0, 0, 0, arg(16), arg(17), 0, now, math.max(1, now), known and 1 or 0}
  h.members = h.members + 1
  is_new = true
end
local silence = now - m[8]
local is_late = silence > math.max(3000, 2 * (h.members - (is_new and 1 or 0)))
m[1], m[8] = math.min(now + ttl, most), now

local room = 0
if has_quota then
  local capacity, cost, seen, back, want, held = arg(8), arg(9), arg(10), arg(11), arg(12), arg(13)
  if not h.balance then
    h.balance, h.capacity = known and math.min(capacity, arg(14)) or capacity, capacity
  end
  h.capacity = h.capacity or capacity
  -- The capacity changes when no process has asked for it for a while.
  if capacity == h.capacity then
    h.capacity_until = m[1]
  elseif now > (h.capacity_until or 0) then
    -- A lower capacity makes no debt.
    h.balance = math.max(math.min(h.balance, 0), h.balance + capacity - h.capacity)
    h.capacity, h.capacity_until = capacity, m[1]
  end
  local is_current = arg(28) == m[9] or (arg(28) == 0 and m[10] == 0)
  if is_current then
    if arg(28) == m[9] then m[10] = 1 end
    h.balance = h.balance + math.max(0, back - m[3]) - math.max(0, seen - m[2])
    m[2], m[3] = math.max(m[2], seen), math.max(m[3], back)
  end
  h.held = math.max(0, h.held - m[4])
  if is_current and leaving then
    -- A leaving process takes no more grants, so those that it has not seen come back.
    h.balance, m[2] = h.balance + m[2] - seen, seen
  end
  local unseen = is_current and m[2] - seen or 0
  h.balance = math.max(-most, math.min(h.balance, h.capacity - h.held - held - unseen))
  if is_current and not leaving then
    local part = math.max(2 * cost, math.floor(h.balance / 4))
    local grant = math.max(0, math.min(want - unseen, h.balance, part))
    m[2], h.balance, unseen = m[2] + grant, h.balance - grant, unseen + grant
  end
  m[4] = math.min(held + unseen, most)
  h.held = math.min(h.held + m[4], most)
  room = h.capacity - h.balance - h.held
end

local step = {'', '0', '0', '0', '', '0'}
if has_limit then
  -- Of a process that was silent for longer than it should, only as much counts as belongs to one step.
  local function counted(x)
    if not is_late then return x end
    local product = math.min(x, 2 ^ 40) * 250
    return (product - math.fmod(product, silence)) / silence
  end
  h.accepted = math.min(h.accepted + counted(math.max(0, arg(16) - m[5])), most)
  -- A process that does not know of the last cut yet has sent at the rate before it.
  local knows_cut = (is_of_another_state and 0 or arg(25)) >= h.cut
  if knows_cut then h.rejected = math.min(h.rejected + counted(math.max(0, arg(17) - m[6])), most) end
  m[5], m[6] = math.max(m[5], arg(16)), math.max(m[6], arg(17))
  forget(m)
  m[7] = arg(18)
  remember(m)
  -- In its first 40 steps, which take ten seconds, this state takes over what was measured before another one was lost.
  local rate, estimate = number(ARGV[29], 0), number(ARGV[30], 0)
  if is_of_another_state and rate and estimate and not h.restored and h.version < 40 then
    h.rate, h.estimate, h.state = ARGV[29], ARGV[30], ''
    h.version, h.stepped, h.offered_until, h.accepted, h.rejected, h.restored = h.version + 1, now, 0, 0, 0, 1
  end
  if not is_of_another_state and ARGV[19] ~= '' and arg(19) == h.version then
    h.accepted, h.rejected = math.max(0, h.accepted - arg(20)), math.max(0, h.rejected - arg(21))
    h.rate, h.estimate, h.state = ARGV[22], ARGV[26], ARGV[23]
    h.version, h.stepped, h.offered_until = h.version + 1, now, 0
    if ARGV[27] == '1' then h.cut = h.version end
  end
  if not leaving and now >= h.offered_until and (h.version == 0 or now >= h.stepped + 250) then
    h.offered_until = now + 1000
    step = {h.version, now, h.accepted, h.rejected, h.state, now - h.stepped}
  end
end

local off = redis.call('EXISTS', switch)
if ARGV[24] == '0' then
  redis.call('DEL', switch)
  off = 0
elseif ARGV[24] ~= '' then
  redis.call('SET', switch, 'off', 'PX', ARGV[24])
  off = 1
end

if leaving then
  leave(m)
  redis.call('HDEL', key, id)
else
  redis.call('HSET', key, id, format(m))
end
local write = {}
for _, name in ipairs(names) do
  if h[name] then
    write[#write + 1] = name
    write[#write + 1] = type(h[name]) == 'number' and string.format('%.0f', h[name]) or h[name]
  end
end
redis.call('HSET', key, unpack(write))
redis.call('PEXPIRE', key, 3600000)

local function whole(x) return string.format('%.0f', x or 0) end
local function u32(x) return whole(math.min(math.max(0, x or 0), 4294967295)) end
local rate, estimate = number(h.rate, 0), number(h.estimate, 0)
local has_rate = rate and estimate
return {h.epoch, u32(h.members), off, whole(m[2]), whole(h.balance), u32(room), u32(h.capacity),
  has_rate and string.format('%.17g', rate) or '', whole(h.satisfied), u32(h.waiting),
  step[1] == '' and '' or whole(step[1]), whole(step[2]), whole(step[3]), whole(step[4]), step[5],
  whole(h.version), whole(h.cut), has_rate and string.format('%.17g', estimate) or '',
  whole(math.max(0, tonumber(step[6]))), whole(m[9])}
