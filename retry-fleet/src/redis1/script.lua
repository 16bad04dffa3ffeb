-- One call of a process. The twin of this script is store/memory.rs with the files of store/memory, step by step.
--
-- KEYS: the hash of the fleet, the switch of the fleet, the members by the end of their time
-- ARGV: these, in this order. Times are milliseconds. Values that a process does not report are ''.
local arguments = {
  -- The process: its name, the epoch that it knows, the name of a new epoch, the time after which it is removed without another
  -- call, 1 if it leaves, the number of members to remove at most whose time is over.
  'member', 'epoch', 'fresh', 'ttl', 'leaving', 'look_at',
  -- The quota: 1 if it has one, then `Knowledge`.
  'has_quota', 'missing', 'capacity', 'timeout_age',
  -- The operations that wait for the service: 1 if it has such a part, then `LineCall`.
  'has_line', 'in_line', 'longest_wait', 'spare',
  -- The limit: 1 if it has one, then `LimitCall`, with a demand of -1 if it waits for sends.
  'has_limit', 'version', 'accepted', 'rejected', 'demand', 'known_rate', 'known_estimate',
  -- The outcome of a step: `Post`, with the cut as 1 or 0.
  'post_version', 'post_accepted', 'post_rejected', 'post_rate', 'post_estimate', 'post_cut', 'post_state',
  -- The switch: the last `Turn` that the process knows, and the one that it makes. 0 is on.
  'turned', 'known_off_for', 'known_reason', 'off_for', 'reason',
  -- The name of the program, or ''.
  'program',
}
-- Reply: these, in this order.
local fields = {
  'epoch', 'members',
  -- `Knowledge`
  'missing', 'capacity', 'timeout_age',
  -- `LineReply`, with 1 or 0
  'granted', 'is_waiting', 'least_wait',
  -- `LimitReply`
  'version', 'cut', 'rate', 'estimate', 'satisfied', 'waiting',
  -- `Step`, or '' for its number
  'step', 'now', 'elapsed', 'accepted', 'rejected', 'state',
  -- `Turn`, or 0 for its number
  'turned', 'off_for', 'reason',
  -- The name of another program, or ''.
  'other_program',
}
local A = {}
for i, name in ipairs(arguments) do A[name] = ARGV[i] end
local key, switch, deadlines = KEYS[1], KEYS[2], KEYS[3]
-- Numbers are doubles here. Whole numbers up to this one, and sums of two of them, are exact. Reported numbers are cut
-- to it.
local most = 2 ^ 52
local function number_of(name) return math.min(tonumber(A[name]) or 0, most) end
-- Other programs may write into the hash. A field that is not such a number is treated as missing, also "inf" and "nan".
local function number(text, least)
  local x = tonumber(text or '')
  if x and x >= least and x <= 2 * most then return x end
end
local is_text = {epoch = true, rate = true, estimate = true, state = true, reason = true,
  program = true, second_program = true, in_wait = true}

local names = {'now', 'clock', 'epoch', 'counted', 'members',
  'rate', 'estimate', 'state', 'version', 'cut', 'stepped', 'offered_until', 'accepted', 'rejected', 'restored',
  'turned', 'off_until', 'reason', 'timed_out', 'program', 'second_program',
  'spare', 'spared', 'waited', 'in_wait',
  'missing', 'capacity', 'satisfied', 'waiting', 'count', 'new_missing', 'new_capacity', 'new_satisfied', 'new_waiting'}
local is_signed = {missing = true, new_missing = true}
local read, h = redis.call('HMGET', key, unpack(names)), {}
for i, name in ipairs(names) do
  if is_text[name] then h[name] = read[i] or ''
  else h[name] = number(read[i], is_signed[name] and -2 * most or 0) end
end

local id, known, ttl, leaving = 'm:' .. A.member, A.epoch ~= '', number_of('ttl'), A.leaving == '1'
local has_quota, has_limit = A.has_quota == '1', A.has_limit == '1'

if h.epoch ~= '' and (h.members or 0) > 0 and redis.call('EXISTS', deadlines) == 0 then h.epoch = '' end
local is_fresh = h.epoch == ''
if is_fresh then
  -- After its first write, a script may use more memory than the store has. So a state that was evicted is not written again.
  if redis.call('EXISTS', key, deadlines) > 0 then redis.call('DEL', key, deadlines) end
  read = {}
  h = {epoch = A.fresh, rate = '', estimate = '', state = '', reason = '', program = '', second_program = '', in_wait = ''}
end
-- The time of the store advances with its clock. If the clock was set back, no time has passed since the last call.
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now = (h.now or clock) + math.max(0, clock - (h.clock or clock))
-- The year 2248. Later times are invalid.
if now > 2 ^ 43 then now = clock end
h.now, h.clock, h.count, h.counted, h.timed_out = now, clock, h.count or 1, h.counted or now, h.timed_out or 0
for _, name in ipairs({'missing', 'capacity', 'satisfied', 'waiting'}) do
  h[name], h['new_' .. name] = h[name] or 0, h['new_' .. name] or 0
end
h.version, h.cut, h.stepped, h.offered_until = h.version or 0, h.cut or 0, h.stepped or now, h.offered_until or 0
h.accepted, h.rejected = h.accepted or 0, h.rejected or 0
-- Numbers that contradict each other were not written by a call. With them, nothing would be measured again.
if h.version > 2 ^ 51 then h.version = 0 end
if h.cut > h.version then h.cut = 0 end
if h.count > 2 ^ 51 then h.count = 1 end
if h.counted > now then h.counted = now end
if h.stepped > now then h.stepped = now end
if h.offered_until > now + 1000 then h.offered_until = 0 end
-- A time in the future was not reported by a process.
if h.timed_out > now then h.timed_out = 0 end
h.waiting = math.min(h.waiting, 4294967295)
h.spare, h.spared, h.waited = math.min(h.spare or 0, 2 ^ 40), math.min(h.spared or 0, now), h.waited or 0
if h.waited > now then h.waited = 0 end
h.turned, h.off_until = math.min(h.turned or 0, most), math.min(h.off_until or 0, most)

-- A member: the count that it was last part of, accepted, rejected, demand, missing, capacity, spare.
local function parse(text)
  local m = {}
  for word in string.gmatch(text or '', '%S+') do m[#m + 1] = number(word, -2 * most) end
  if #m == 7 and m[2] >= 0 and m[3] >= 0 and m[4] >= -1 and m[6] >= 0 and m[7] >= 0 then return m end
end
local function format(m) return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', unpack(m)) end

-- The sums over all members change with each call. Because other programs may write into the hash, they are counted again every
-- half a minute, in which all members call. So no call has to look at all members.
local function change(prefix, m, by)
  local missing, capacity, satisfied, waiting =
    prefix .. 'missing', prefix .. 'capacity', prefix .. 'satisfied', prefix .. 'waiting'
  h[missing] = math.max(-most, math.min(h[missing] + by * m[5], most))
  h[capacity] = math.max(0, math.min(h[capacity] + by * m[6], most))
  if m[4] == -1 then h[waiting] = math.max(0, h[waiting] + by)
  else h[satisfied] = math.max(0, h[satisfied] + by * m[4]) end
end
local function add(m)
  m[1] = h.count
  change('', m, 1)
  change('new_', m, 1)
end
local function subtract(m)
  if m[1] >= h.count - 1 then change('', m, -1) end
  if m[1] == h.count then change('new_', m, -1) end
end
if now - h.counted >= 30000 then
  for _, name in ipairs({'missing', 'capacity', 'satisfied', 'waiting'}) do
    h[name], h['new_' .. name] = h['new_' .. name], 0
  end
  h.count, h.counted = h.count + 1, now
  is_fresh = true
end

-- Members whose time is over are removed, at the end, because the first write must be one that a store without memory refuses.
local expired, expired_entries = {}, {}
local over = {}
if number_of('look_at') > 0 then
  over = redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, math.min(number_of('look_at'), 1000))
end
for _, name in ipairs(over) do
  if name ~= A.member then
    expired[#expired + 1] = name
    expired_entries[#expired_entries + 1] = 'm:' .. name
  end
end
if #expired > 0 then
  for _, entry in ipairs(redis.call('HMGET', key, unpack(expired_entries))) do
    local m = parse(entry)
    if m then subtract(m) end
  end
end
local until_now = tonumber(redis.call('ZSCORE', deadlines, A.member) or nil)

-- The process last saw another state, which was lost.
local is_of_another_state = known and A.epoch ~= h.epoch
local text = redis.call('HGET', key, id)
local m = parse(text)
if m then subtract(m) end
if until_now and until_now <= now then m, until_now = nil, nil end
-- Answers before its first call, or while it was removed, do not count.
m = m or {0, number_of('accepted'), number_of('rejected'), 0, 0, 0, number_of('spare')}

-- The knowledge of the others: this process is subtracted already.
local others = {h.missing, h.capacity, ''}
if has_quota then
  local largest = 2 ^ 34
  m[5] = math.max(-largest, math.min(number_of('missing'), largest))
  m[6] = math.max(0, math.min(number_of('capacity'), largest))
  if A.timeout_age ~= '' then h.timed_out = math.max(h.timed_out, now - number_of('timeout_age')) end
  if h.timed_out > 0 then others[3] = string.format('%.0f', now - h.timed_out) end
end

-- The processes whose operations wait, of the latest calls, at most 16, oldest call first: when the first operation of each began to
-- wait, when the process called, and its name, in one line. A longer text than this is ignored. Lines are matched one by one, because a
-- text of digits alone would take the square of its length.
local caller = (string.gsub(A.member, '\n', ' '))
local function parse_waits(text, longest)
  local waits = {}
  if #text > 65536 then return waits end
  for line in string.gmatch(text, '([^\n]*)\n') do
    local began, called, name = string.match(line, '^(%d+) (%d+) (.*)$')
    local since, at = tonumber(began), tonumber(called)
    if since and at and since <= at and at <= now and now - at < longest and name ~= caller and #waits < 16 then
      waits[#waits + 1] = {since, at, name}
    end
  end
  return waits
end
local function format_waits(waits)
  local texts = {}
  for i, wait in ipairs(waits) do texts[i] = string.format('%.0f %.0f %s\n', unpack(wait)) end
  return table.concat(texts)
end

-- Sends that successes have allowed and that the process did not use are for others whose operations wait. They are thousandths.
-- What nobody takes fades, but for one send: after a second, at most 37 % are left.
local granted, is_waiting, least_wait = 0, false, 0
if A.has_line == '1' then
  local u32 = 4294967295
  local in_line, spare = math.min(number_of('in_line'), u32), math.max(0, number_of('spare') - m[7])
  m[7] = m[7] + spare
  h.spare = h.spare - math.floor(math.max(0, h.spare - 1000) * math.min(now - h.spared, 1000) / 1000)
  h.spared = now
  if in_line > 0 then h.waited = now end
  local longest = math.max(3000, ttl)
  is_waiting = h.waited > 0 and now - h.waited < longest
  h.spare = is_waiting and math.min(h.spare + spare * 500, 2 ^ 40) or 0
  local sends, since = math.floor(h.spare / 1000), now - math.max(0, math.min(number_of('longest_wait'), now))
  local waits = parse_waits(h.in_wait, longest)
  if in_line > 0 then
    if #waits == 16 then table.remove(waits, 1) end
    waits[#waits + 1] = {since, now, caller}
  end
  h.in_wait = format_waits(waits)
  -- With each send that is left, two more of these processes may have it, first those that wait longest.
  table.sort(waits, function(a, b) return a[1] < b[1] end)
  local last = waits[2 * sends + 1]
  if last and since > last[1] then least_wait = now - last[1] else granted = math.min(sends, in_line) end
  h.spare = h.spare - granted * 1000
end

local step
if has_limit then
  h.accepted = math.min(h.accepted + math.max(0, number_of('accepted') - m[2]), most)
  -- A process that does not know of the last cut yet has sent at the rate before it.
  local knows_cut = (is_of_another_state and 0 or number_of('version')) >= h.cut
  if knows_cut then h.rejected = math.min(h.rejected + math.max(0, number_of('rejected') - m[3]), most) end
  m[2], m[3] = math.max(m[2], number_of('accepted')), math.max(m[3], number_of('rejected'))
  m[4] = number_of('demand')
  -- In its first 40 steps, which take ten seconds, this state takes over the rate and the estimate of a state that was lost.
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

-- The switch. The turn of the call decides, else the switch's key while it exists, else the latest turn that the state or a
-- process knows.
local reported = number_of('turned')
local function turn(number, off_until, reason)
  h.turned, h.off_until, h.reason = math.min(number, most), off_until, reason
end
if reported > h.turned then
  local off_for = number_of('known_off_for')
  turn(reported, off_for > 0 and math.min(now + off_for, most) or 0, A.known_reason)
end
local next_turn = math.max(now, h.turned + 1)
local text, left = redis.pcall('GET', switch), redis.call('PTTL', switch)
if A.off_for ~= '' then
  local off_for = number_of('off_for')
  local is_on = off_for <= 0
  turn(next_turn, is_on and 0 or math.min(now + off_for, most), A.reason)
  -- Processes with other versions of the protocol see it, too.
  redis.call('SET', switch, is_on and 'on' or 'off ' .. A.reason, 'PX',
    is_on and 60000 or string.format('%.0f', off_for))
elseif text then
  -- Any value but this one means off. A key of another type is not text.
  text = type(text) == 'string' and string.sub(text, 1, 512) or ''
  local is_on = text == 'on'
  local off_until = is_on and 0 or left < 0 and most or math.min(now + left, most)
  local reason = not is_on and string.match(text, '^off (.*)$') or ''
  -- This text does not say who turned it on.
  local is_same = h.turned > 0 and (h.off_until > 0) ~= is_on and (is_on or h.reason == reason)
    and math.abs(h.off_until - off_until) <= 1000
  if not is_same then turn(next_turn, off_until, reason) end
end

-- The programs whose processes have called in the last minute, at most two: the end of that minute, and the name. A third program
-- sees the first.
local other_program = ''
if A.program ~= '' then
  local own, free, left
  for _, field in ipairs({'program', 'second_program'}) do
    local ends, name = string.match(h[field], '^(%d+) (.*)$')
    local known_for = (tonumber(ends or '') or 0) - now
    if known_for <= 0 or known_for > 60000 then free = free or field
    elseif name == A.program then own, left = field, known_for
    elseif other_program == '' then other_program = name end
  end
  own = own or free
  if own and (left or 0) < 30000 then h[own] = string.format('%.0f ', now + 60000) .. A.program end
end

-- Only what has changed is written.
local write = {}
local deadline
h.members = redis.call('ZCOUNT', deadlines, string.format('(%.0f', now), '+inf')
if leaving then
  expired[#expired + 1] = A.member
  expired_entries[#expired_entries + 1] = id
  if until_now then h.members = h.members - 1 end
else
  add(m)
  deadline = math.min(now + ttl, most)
  if until_now and math.abs(deadline - until_now) < 500 then deadline = nil end
  -- A lifetime of zero is over immediately.
  if not until_now and deadline > now then h.members = h.members + 1 end
  if until_now and deadline and deadline <= now then h.members = h.members - 1 end
  if format(m) ~= text then write = {id, format(m)} end
end
for i, name in ipairs(names) do
  local value = type(h[name]) == 'number' and string.format('%.0f', h[name]) or h[name]
  if value and value ~= read[i] then
    write[#write + 1] = name
    write[#write + 1] = value
  end
end
if #write > 0 then redis.call('HSET', key, unpack(write)) end
if deadline then redis.call('ZADD', deadlines, deadline, A.member) end
if #expired > 0 then
  redis.call('HDEL', key, unpack(expired_entries))
  redis.call('ZREM', deadlines, unpack(expired))
end
if is_fresh then
  -- No process has such a long lifetime.
  redis.call('ZREMRANGEBYSCORE', deadlines, string.format('(%.0f', now + 86400000), '+inf')
  redis.call('PEXPIRE', key, 3600000)
  redis.call('PEXPIRE', deadlines, 3600000)
end

local function whole(x) return string.format('%.0f', x or 0) end
local function u32(x) return whole(math.min(math.max(0, x or 0), 4294967295)) end
local rate, estimate = number(h.rate, 0), number(h.estimate, 0)
local has_rate = rate and estimate
local answer = {
  epoch = h.epoch, members = u32(h.members),
  missing = whole(others[1]), capacity = whole(others[2]), timeout_age = others[3],
  granted = whole(granted), is_waiting = is_waiting and '1' or '0', least_wait = whole(least_wait),
  version = whole(h.version), cut = whole(h.cut), satisfied = whole(h.satisfied), waiting = u32(math.min(h.waiting, h.members)),
  rate = has_rate and string.format('%.17g', rate) or '', estimate = has_rate and string.format('%.17g', estimate) or '',
  turned = whole(h.turned), off_for = whole(math.max(0, h.off_until - now)),
  -- Nobody has turned it on if its time is over.
  reason = (h.off_until == 0 or h.off_until > now) and h.reason or '',
  other_program = other_program,
}
if step then
  answer.step, answer.now, answer.elapsed = whole(step[1]), whole(now), whole(math.max(0, step[5]))
  answer.accepted, answer.rejected, answer.state = whole(step[2]), whole(step[3]), step[4]
end
local reply = {}
for i, name in ipairs(fields) do reply[i] = answer[name] or '' end
return reply
