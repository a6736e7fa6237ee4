package registry_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// A cursor keeps its position while its history grows, and is rejected in any other history.
func TestCursor(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	for _, of := range []*fixture{f, other} {
		of.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
		of.put(t, registry.Name("urn:example:b"), leadsTo("https://b.example/"))
	}
	var cursors []string
	for seq := range registry.Seq(3) {
		cursor, err := f.CursorAt(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, cursor)
	}
	if _, err := f.CursorAt(t.Context(), 3); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("the cursor of what there is not: %v", err)
	}
	f.put(t, registry.Name("urn:example:c"), leadsTo("https://c.example/"))
	for seq, cursor := range cursors {
		if after, err := f.CursorSeq(t.Context(), cursor); after != registry.Seq(seq) || err != nil {
			t.Errorf("%s is %d, %v, want %d", cursor, after, err, seq)
		}
		if _, err := other.CursorSeq(t.Context(), cursor); !errors.Is(err, registry.ErrForeignCursor) && seq > 0 {
			t.Errorf("%s in another registry: %v", cursor, err) // the salts of its versions differ
		}
	}
	later, err := f.CursorAt(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.CursorSeq(t.Context(), later); !errors.Is(err, registry.ErrForeignCursor) {
		t.Errorf("a cursor behind all: %v", err)
	}
	if after, err := f.CursorSeq(t.Context(), ""); after != 0 || err != nil {
		t.Errorf("no cursor: %d, %v", after, err)
	}
	for _, text := range []string{"x", "-1", "-1 00", "1", "1 ", "0 00", "9223372036854775808 00", "a 00"} {
		if _, err := f.CursorSeq(t.Context(), base64.RawURLEncoding.EncodeToString([]byte(text))); !errors.Is(err,
			registry.ErrInvalidCursor) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := f.CursorSeq(t.Context(), "?"); !errors.Is(err, registry.ErrInvalidCursor) {
		t.Errorf("no base64: %v", err)
	}
}
