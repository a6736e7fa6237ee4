package valkey

import (
	"encoding/binary"
	"errors"
	"time"
)

// mark is a position in the log of purges: the instance that sets it has applied all purges up to number.
type mark struct {
	epoch  string // of the log; "" for no position
	number uint64
}

// entry is a stored outcome at the server. It has only durations, because the clocks of instances may differ.
type entry struct {
	key      string
	mark     mark          // when the load began: a later purge may select it
	lifetime time.Duration // its TTL when it was loaded
	payload  []byte        // encoded by the codec of the cache
}

func (e entry) encode() []byte {
	out := make([]byte, 0, 32+len(e.key)+len(e.mark.epoch)+len(e.payload))
	for _, text := range []string{e.key, e.mark.epoch} {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	out = binary.AppendUvarint(out, e.mark.number)
	out = binary.AppendUvarint(out, uint64(e.lifetime)) //nolint:gosec // positive
	return append(out, e.payload...)
}

var errEntry = errors.New("not an entry of this version")

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
