package list

import "hash/maphash"

// table is a hash table of texts with flags, compact for millions of them: the entries are stored
// consecutively in one byte slice, and found by open addressing with linear probing. Texts are compared, not
// only their hashes. The zero value is empty.
type table struct {
	seed  maphash.Seed
	bytes []byte // for each entry: its flags, the length of its text in two bytes, its text
	slots []slot // their number is a power of two
	mask  uint64 // the number of slots minus one
	count int
}

// slot refers to an entry.
type slot struct {
	tag   uint32 // the upper half of the hash of its text
	entry uint32 // the offset of its text in bytes; 0 for none
}

const (
	entryHead = 3 // bytes before a text
	minSlots  = 64
	maxText   = 1<<16 - 1
	maxTexts  = 1<<32 - 1 // bytes of all entries
)

// add adds flags to those of a text, and reports whether the table had room.
func (t *table) add(text string, flags byte) bool {
	if t.slots == nil {
		t.seed, t.slots, t.mask = maphash.MakeSeed(), make([]slot, minSlots), minSlots-1
	}
	hash := maphash.String(t.seed, text)
	if at := t.find(hash, text); at != 0 {
		t.bytes[at-entryHead] |= flags
		return true
	}
	if len(text) > maxText || len(t.bytes)+entryHead+len(text) > maxTexts {
		return false
	}
	if 4*(t.count+1) > 3*len(t.slots) {
		t.grow()
	}
	t.bytes = append(t.bytes, flags, byte(len(text)>>8), byte(len(text)&0xff)) //nolint:gosec // at most maxText
	t.place(hash, uint32(len(t.bytes)))                                        //nolint:gosec // at most maxTexts
	t.bytes = append(t.bytes, text...)
	t.count++
	return true
}

// grow doubles the number of slots.
func (t *table) grow() {
	old := t.slots
	t.mask = t.mask<<1 | 1
	t.slots = make([]slot, t.mask+1)
	for _, s := range old {
		if s.entry != 0 {
			t.place(maphash.Bytes(t.seed, t.text(s.entry)), s.entry)
		}
	}
}

// place puts the entry whose text is at an offset into the first free slot for its hash. A quarter of the
// slots is free.
func (t *table) place(hash uint64, at uint32) {
	i := hash & t.mask
	for t.slots[i].entry != 0 {
		i = (i + 1) & t.mask
	}
	t.slots[i] = slot{uint32(hash >> 32), at}
}

// text returns the text at an offset.
func (t *table) text(at uint32) []byte {
	length := int(t.bytes[at-2])<<8 | int(t.bytes[at-1])
	return t.bytes[at:][:length]
}

// lookup returns the flags of a text, 0 for none.
func (t *table) lookup(text string) byte {
	if t.count == 0 {
		return 0
	}
	return t.flags(maphash.String(t.seed, text), text)
}

// find returns the offset of the text that is the concatenation of parts, and has the given hash; 0 for none.
// The table must have slots.
func (t *table) find(hash uint64, parts ...string) uint32 {
	for i := hash & t.mask; t.slots[i].entry != 0; i = (i + 1) & t.mask {
		if s := t.slots[i]; s.tag == uint32(hash>>32) && consistsOf(t.text(s.entry), parts) {
			return s.entry
		}
	}
	return 0
}

// flags returns the flags of the text that is the concatenation of parts, and has the given hash; 0 for none.
func (t *table) flags(hash uint64, parts ...string) byte {
	if at := t.find(hash, parts...); at != 0 {
		return t.bytes[at-entryHead]
	}
	return 0
}

// consistsOf reports whether a text is the concatenation of parts.
func consistsOf(text []byte, parts []string) bool {
	for _, part := range parts {
		if len(part) > len(text) || string(text[:len(part)]) != part {
			return false
		}
		text = text[len(part):]
	}
	return len(text) == 0
}
