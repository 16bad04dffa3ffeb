-- One call of a process. The twin of this script is store/memory.rs with store/memory/limit.rs, step by step.
--
-- KEYS: the hash of the fleet, the switch of the fleet
-- ARGV: these, in this order. Times are milliseconds. What a process does not tell is ''.
local arguments = {
  -- The process: its name, the epoch that it knows, the name of a new epoch, the time after which it is gone without another
  -- call, 1 if it leaves, the number of entries to look at.
  'member', 'epoch', 'fresh', 'ttl', 'leaving', 'look_at',
  -- The quota: 1 if it has one, then `QuotaCall`.
  'has_quota', 'entry', 'capacity', 'cost', 'seen', 'back', 'want', 'held', 'hint',
  -- The limit: 1 if it has one, then `LimitCall`, with a demand of -1 if it waits for sends.
  'has_limit', 'version', 'accepted', 'rejected', 'demand', 'known_rate', 'known_estimate',
  -- The outcome of a step: `Post`, with the cut as 1 or 0.
  'post_version', 'post_accepted', 'post_rejected', 'post_rate', 'post_estimate', 'post_cut', 'post_state',
  -- The switch: the last `Turn` that the process knows, and the one that it makes. 0 is on.
  'turned', 'known_off_for', 'known_reason', 'off_for', 'reason',
}
-- Reply: these, in this order.
local fields = {
  'epoch', 'members',
  -- `QuotaReply`
  'entry', 'given', 'balance', 'room', 'capacity',
  -- `LimitReply`
  'version', 'cut', 'rate', 'estimate', 'satisfied', 'waiting',
  -- `Step`, or '' for its number
  'step', 'now', 'elapsed', 'accepted', 'rejected', 'state',
  -- `Turn`, or 0 for its number
  'turned', 'off_for', 'reason',
}
local A = {}
for i, name in ipairs(arguments) do A[name] = ARGV[i] end
local key, switch = KEYS[1], KEYS[2]
-- Numbers are doubles here. Whole numbers up to this one, and sums of two of them, are exact. What a process tells is cut
-- to it.
local most = 2 ^ 52
local function number_of(name) return math.min(tonumber(A[name]) or 0, most) end
-- What somebody else wrote into the hash and is not such a number counts as missing, "inf" and "nan" included.
local function number(text, least)
  local x = tonumber(text or '')
  if x and x >= least and x <= 2 * most then return x end
end
local is_text = {epoch = true, rate = true, estimate = true, state = true, reason = true}

local names = {'now', 'clock', 'epoch', 'counted', 'members', 'capacity', 'capacity_until', 'balance', 'held',
  'rate', 'estimate', 'state', 'version', 'cut', 'stepped', 'offered_until', 'accepted', 'rejected', 'satisfied',
  'waiting', 'restored', 'turned', 'off_until', 'reason'}
local read, h = redis.call('HMGET', key, unpack(names)), {}
for i, name in ipairs(names) do
  if is_text[name] then h[name] = read[i] or ''
  else h[name] = number(read[i], name == 'balance' and -2 * most or 0) end
end

local id, known, ttl, leaving = 'm:' .. A.member, A.epoch ~= '', number_of('ttl'), A.leaving == '1'
local has_quota, has_limit = A.has_quota == '1', A.has_limit == '1'

if h.epoch == '' then
  -- After its first write, a script may use more memory than the store has. So a state that was evicted is not written anew.
  if redis.call('EXISTS', key) == 1 then redis.call('DEL', key) end
  h = {epoch = A.fresh, rate = '', estimate = '', state = '', reason = ''}
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
h.turned, h.off_until = math.min(h.turned or 0, most), math.min(h.off_until or 0, most)

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
if number_of('look_at') > 0 then
  local looked = redis.call('HRANDFIELD', key, number_of('look_at'), 'WITHVALUES')
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
local is_of_another_state = known and A.epoch ~= h.epoch
local text = redis.call('HGET', key, id)
local m, is_new = text and parse(text), false
if not m then
  -- The numbers of a process that has had an answer are for an entry that was forgotten. A new process brings its pocket,
  -- which is charged.
  m = {0, 0, 0, 0, number_of('accepted'), number_of('rejected'), 0, now, math.max(1, now), known and 1 or 0}
  h.members = h.members + 1
  is_new = true
end
local silence = now - m[8]
local is_late = silence > math.max(3000, 2 * (h.members - (is_new and 1 or 0)))
m[1], m[8] = math.min(now + ttl, most), now

local room = 0
if has_quota then
  local capacity, cost, want, held = number_of('capacity'), number_of('cost'), number_of('want'), number_of('held')
  local seen, back = number_of('seen'), number_of('back')
  if not h.balance then
    h.balance, h.capacity = known and math.min(capacity, number_of('hint')) or capacity, capacity
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
  local is_current = number_of('entry') == m[9] or (number_of('entry') == 0 and m[10] == 0)
  if is_current then
    if number_of('entry') == m[9] then m[10] = 1 end
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

local step
if has_limit then
  -- Of a process that was silent for longer than it should, only as much counts as belongs to one step.
  local function counted(x)
    if not is_late then return x end
    local product = math.min(x, 2 ^ 40) * 250
    return (product - math.fmod(product, silence)) / silence
  end
  h.accepted = math.min(h.accepted + counted(math.max(0, number_of('accepted') - m[5])), most)
  -- A process that does not know of the last cut yet has sent at the rate before it.
  local knows_cut = (is_of_another_state and 0 or number_of('version')) >= h.cut
  if knows_cut then h.rejected = math.min(h.rejected + counted(math.max(0, number_of('rejected') - m[6])), most) end
  m[5], m[6] = math.max(m[5], number_of('accepted')), math.max(m[6], number_of('rejected'))
  forget(m)
  m[7] = number_of('demand')
  remember(m)
  -- In its first 40 steps, which take ten seconds, this state takes over what was measured before another one was lost.
  local rate, estimate = number(A.known_rate, 0), number(A.known_estimate, 0)
  if is_of_another_state and rate and estimate and not h.restored and h.version < 40 then
    h.rate, h.estimate, h.state = A.known_rate, A.known_estimate, ''
    h.version, h.stepped, h.offered_until, h.accepted, h.rejected, h.restored = h.version + 1, now, 0, 0, 0, 1
  end
  if not is_of_another_state and A.post_version ~= '' and number_of('post_version') == h.version then
    h.accepted = math.max(0, h.accepted - number_of('post_accepted'))
    h.rejected = math.max(0, h.rejected - number_of('post_rejected'))
    h.rate, h.estimate, h.state = A.post_rate, A.post_estimate, A.post_state
    h.version, h.stepped, h.offered_until = h.version + 1, now, 0
    if A.post_cut == '1' then h.cut = h.version end
  end
  if not leaving and now >= h.offered_until and (h.version == 0 or now >= h.stepped + 250) then
    h.offered_until = now + 1000
    step = {h.version, h.accepted, h.rejected, h.state, now - h.stepped}
  end
end

-- The switch. While its key exists, the key decides. Otherwise the latest turn counts that the state or a process knows.
local told = number_of('turned')
local function turn(number, off_until, reason)
  h.turned, h.off_until, h.reason = math.min(number, most), off_until, reason
end
local text, left = redis.pcall('GET', switch), redis.call('PTTL', switch)
if text then
  -- Any value but this one means off. A key of another type is not text.
  text = type(text) == 'string' and string.sub(text, 1, 512) or ''
  local is_on = text == 'on'
  local off_until = is_on and 0 or left < 0 and most or math.min(now + left, most)
  local reason = not is_on and string.match(text, '^off (.*)$') or ''
  local is_same = h.turned > 0 and (h.off_until > 0) ~= is_on and h.reason == reason
    and math.abs(h.off_until - off_until) <= 1000
  if not is_same then turn(math.max(now, h.turned + 1, told + 1), off_until, reason) end
elseif told > h.turned then
  local off_for = number_of('known_off_for')
  turn(told, off_for > 0 and math.min(now + off_for, most) or 0, A.known_reason)
end
if A.off_for ~= '' then
  local off_for = number_of('off_for')
  local is_on = off_for <= 0
  turn(math.max(now, h.turned + 1, told + 1), is_on and 0 or math.min(now + off_for, most), is_on and '' or A.reason)
  -- Processes with other versions of the protocol see it, too.
  redis.call('SET', switch, is_on and 'on' or 'off ' .. A.reason, 'PX',
    is_on and 60000 or string.format('%.0f', off_for))
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
local answer = {
  epoch = h.epoch, members = u32(h.members),
  entry = whole(m[9]), given = whole(m[2]), balance = whole(h.balance), room = u32(room), capacity = u32(h.capacity),
  version = whole(h.version), cut = whole(h.cut), satisfied = whole(h.satisfied), waiting = u32(h.waiting),
  rate = has_rate and string.format('%.17g', rate) or '', estimate = has_rate and string.format('%.17g', estimate) or '',
  turned = whole(h.turned), off_for = whole(math.max(0, h.off_until - now)), reason = h.reason,
}
if step then
  answer.step, answer.now, answer.elapsed = whole(step[1]), whole(now), whole(math.max(0, step[5]))
  answer.accepted, answer.rejected, answer.state = whole(step[2]), whole(step[3]), step[4]
end
local reply = {}
for i, name in ipairs(fields) do reply[i] = answer[name] or '' end
return reply
