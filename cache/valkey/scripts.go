package valkey

import (
	"strconv"

	client "github.com/valkey-io/valkey-go"
)

// scripts are the Lua scripts of a level. write is sent as text, because batches do not check first whether the server
// has the script.
type scripts struct{ lookup, write, log, meet *client.Lua }

func newScripts() scripts {
	return scripts{
		lookup: client.NewLuaScript(endOfLog + "local most = " + strconv.Itoa(maxEntry) + lookupScript),
		log:    client.NewLuaScript(endOfLog + logScript),
		write:  client.NewLuaScriptNoSha(writeScript), // sent in batches
		meet:   client.NewLuaScript(meetScript),
	}
}

// endOfLog begins scripts, which the server runs atomically. They return the end of the log with each answer,
// as its identifier, epoch and tag. A value of an unexpected type was not written by urnd, and is deleted,
// because otherwise each script would fail on it.
const endOfLog = `
local function last(key)
  local found = redis.pcall('XREVRANGE', key, '+', '-', 'COUNT', 1)
  if found.err then redis.call('DEL', key) return '', '', '' end
  if not found[1] then return '', '', '' end
  local fields = found[1][2]
  return found[1][1], string.sub(fields[2] or '', 1, 64), string.sub(fields[4] or '', -16)
end
`

// lookupScript: KEYS entry, lease, log; ARGV token or "" for no lease, milliseconds of the lease, and "" or a
// letter with the tag of an entry: "d" deletes that entry, and "i" ignores it. It returns the end of the log,
// then either the remaining milliseconds and the entry, or whether the caller has the lease.
const lookupScript = `
local id, epoch, tag = last(KEYS[3])
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' or value and #value > most then redis.call('DEL', KEYS[1]) value = false end
if value and ARGV[3] ~= '' and string.sub(value, -16) == string.sub(ARGV[3], 2) then
  if string.sub(ARGV[3], 1, 1) == 'd' then redis.call('DEL', KEYS[1]) end
  value = false
end
if value then return {id, epoch, tag, redis.call('PTTL', KEYS[1]), value} end
if ARGV[1] == '' then return {id, epoch, tag, 0} end
local left = redis.call('PTTL', KEYS[2])
if left == -1 or left > tonumber(ARGV[2]) then redis.call('DEL', KEYS[2]) end
local lease = redis.pcall('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
if type(lease) == 'table' and lease.err and not string.find(lease.err, 'OOM', 1, true) then return lease end
if lease then return {id, epoch, tag, 1} end
return {id, epoch, tag, 0}`

// writeScript: KEYS entry, lease; ARGV token, milliseconds, the entry, and the milliseconds to renew the lease
// for, "" to release it. With "" for the milliseconds of the entry, the entry is deleted; with "-" it is
// unchanged.
const writeScript = `
local done = 1
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
elseif ARGV[2] ~= '-' then done = redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[2]) end
local lease = redis.pcall('GET', KEYS[2])
if lease == ARGV[1] and ARGV[4] == '' then redis.call('DEL', KEYS[2])
elseif lease == ARGV[1] then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[4]) end
return done`

// logScript: KEYS log; ARGV the identifier and tag of the end that the caller expects, then the identifier,
// epoch and data of a new entry, and the maximum number of entries. It returns the end of the log, and whether
// that is the new entry.
const logScript = `
local id, epoch, tag = last(KEYS[1])
if ARGV[3] == '' or id ~= ARGV[1] or tag ~= ARGV[2] then return {id, epoch, tag, 0} end
local added = redis.pcall('XADD', KEYS[1], 'MAXLEN', ARGV[6], ARGV[3], 'e', ARGV[4], 'd', ARGV[5])
if type(added) == 'table' then
  if id == '' then redis.call('DEL', KEYS[1]) end
  return added
end
return {ARGV[3], ARGV[4], string.sub(ARGV[5], -16), 1}`

// memberSuffix ends the keys of meetScript.
const memberSuffix = ":member"

// meetScript: KEYS of caches; ARGV the identifier of an instance, and the milliseconds of its announcement. It
// returns the previous values of the keys, and sets them to the identifier.
const meetScript = `
local last = {}
for i, key in ipairs(KEYS) do
  local found = redis.pcall('GET', key)
  last[i] = type(found) == 'string' and string.sub(found, 1, 64) or ''
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
return last`
