package registry

import (
	"fmt"
	"math/bits"
)

// bitmap is a set of Seqs.
type bitmap []uint64

func (b bitmap) has(seq Seq) bool { return b[seq/64]&(1<<(seq%64)) != 0 }
func (b bitmap) set(seq Seq)      { b[seq/64] |= 1 << (seq % 64) }

func (b bitmap) add(seqs []Seq) {
	for _, seq := range seqs {
		b.set(seq)
	}
}

// reportUnexplained reports what no row explains.
func (v *verifier) reportUnexplained() {
	v.comparePurged()
	v.compareRedacted()
	for _, u := range v.unknown {
		if !v.superseded.has(u.seq) {
			v.report(fmt.Sprintf("%s: it is an alias of %s, which does not know it", u.key, u.name))
		}
	}
}

// comparePurged compares the versions that are purged with those that purges name.
func (v *verifier) comparePurged() {
	for i := range v.purged {
		for differ := v.purged[i] ^ v.named[i]; differ != 0; differ &= differ - 1 {
			seq := Seq(64*i + bits.TrailingZeros64(differ))
			if v.purged.has(seq) {
				v.report(fmt.Sprintf("number %d is purged, and nobody is said to have done it", seq))
				continue
			}
			v.report(fmt.Sprintf("number %d is said to be purged, and is not", seq))
		}
	}
}

// compareRedacted compares the versions that are redacted with what redactions say of them.
func (v *verifier) compareRedacted() {
	for seq, is := range v.redacted {
		said, ok := v.events[seq]
		switch {
		case !ok:
			v.report(fmt.Sprintf("number %d is redacted, and nobody is said to have done it", seq))
		case said != nil && *said != is:
			v.report(fmt.Sprintf("number %d is not what its redaction has left of it", seq))
		}
	}
	for seq := range v.events {
		if _, ok := v.redacted[seq]; !ok && !v.purged.has(seq) {
			v.report(fmt.Sprintf("number %d is said to be redacted, and is not", seq))
		}
	}
}
