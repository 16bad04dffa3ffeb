-- Replaces what is known of the limit of a fleet.
--
-- KEYS: the hash of the fleet
-- ARGV: the estimate in sends per second, or '' to forget it
-- Reply: 1, or 0 if there is no state, or no step of a limit in it.
local key, estimate = KEYS[1], ARGV[1]
if (redis.call('HGET', key, 'epoch') or '') == '' then return 0 end
local version = tonumber(redis.call('HGET', key, 'version') or '') or 0
if version < 1 then return 0 end
-- With the next number, the outcome of a step that is being computed is refused.
redis.call('HSET', key, 'rate', estimate, 'estimate', estimate, 'state', '', 'accepted', '0', 'rejected', '0',
  'offered_until', '0', 'version', string.format('%.0f', version + 1))
return 1
