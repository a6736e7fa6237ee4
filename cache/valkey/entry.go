package valkey

import (
	"encoding/binary"
	"errors"
	"time"
)

// mark is a place in the log of purges: all purges up to the number were applied by the instance that says so.
type mark struct {
	epoch  string // of the log; "" is no place
	number uint64
}

// entry is what the server holds of an outcome. It has durations alone: the clocks of instances may differ.
type entry struct {
	key      string
	mark     mark          // at the begin of the load: a later purge is about it
	lifetime time.Duration // the TTL that it was loaded with
	payload  []byte        // by the codec of the cache
}

func (e entry) encode() []byte {
	out := make([]byte, 0, 32+len(e.key)+len(e.mark.epoch)+len(e.payload))
	for _, text := range []string{e.key, e.mark.epoch} {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	out = binary.AppendUvarint(out, e.mark.number)
	out = binary.AppendUvarint(out, uint64(e.lifetime)) //nolint:gosec // it is positive
	return append(out, e.payload...)
}

var errEntry = errors.New("it is not an entry of this version")

func decodeEntry(text []byte) (e entry, err error) {
	for _, to := range []*string{&e.key, &e.mark.epoch} {
		n, size := binary.Uvarint(text)
		if size <= 0 || n > maxEntry || int(n) > len(text)-size {
			return e, errEntry
		}
		*to, text = string(text[size:size+int(n)]), text[size+int(n):]
	}
	var lifetime uint64
	for _, to := range []*uint64{&e.mark.number, &lifetime} {
		n, size := binary.Uvarint(text)
		if size <= 0 {
			return e, errEntry
		}
		*to, text = n, text[size:]
	}
	if lifetime == 0 || lifetime > uint64(maxTTL) {
		return e, errEntry
	}
	e.lifetime, e.payload = time.Duration(lifetime), text
	return e, nil
}
