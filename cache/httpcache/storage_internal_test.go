package httpcache

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// If a 304 made two variants of one object on disk, and one of them is removed, the object gets the head of the other
// one. Clients may be reading that variant: it is not changed, but copied.
func TestUpdateDiskOfVariants(t *testing.T) {
	on, err := disk.Open(t.TempDir(), disk.Config{
		MaxBytes: 1 << 20, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = on.Close() }()
	w, err := on.Create("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	variant := func(value string) *stored {
		return &stored{Response: rules.Response{
			Status: 200, Selectors: []rules.Selector{{Name: "Accept-Language", Value: value}},
		}}
	}
	one, other := variant("fr"), variant("de")
	o, err := w.Commit(one.head())
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	for _, s := range []*stored{one, other} {
		s.saved, s.content = o, body.File{Object: o}
	}
	after := &Entry{variants: []*stored{other}}
	newStorage(&Config{Disk: on}).updateDisk(&Entry{variants: []*stored{one, other}}, after)
	if other.saved != o || other.content != (body.File{Object: o}) {
		t.Error("a published variant was changed")
	}
	left := after.variants[0]
	if left.saved == nil || !left.saved.Is(o) || left.content != (body.File{Object: left.saved}) ||
		!bytes.Equal(left.saved.Head(), other.head()) {
		t.Errorf("%+v", left)
	}
}

// A crash between storing a response and removing the one that it replaces leaves both on disk: only the later one is
// found, even if their Dates are equal or a clock was set back, and the other one is removed.
func TestLoadAfterCrash(t *testing.T) {
	const key = "http://a.example/"
	for _, later := range []int{0, 1} {
		on, err := disk.Open(t.TempDir(), disk.Config{
			MaxBytes: 1 << 20, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		received := time.Unix(1_795_000_000, 0)
		for i := range 2 {
			s := &stored{Response: rules.Response{Status: 200, Received: received}}
			if i == later {
				s.Reason, s.Received = "later", received.Add(time.Millisecond)
			}
			w, err := on.Create(key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Commit(s.head()); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
		}
		now := func() time.Time { return received.Add(time.Second) }
		e := newStorage(&Config{Disk: on, Now: now}).load(key, noBodies)
		if len(e.variants) != 1 || e.variants[0].Reason != "later" || len(on.Read(key, noBodies)) != 1 {
			t.Errorf("%d: %d variants, %d on disk", later, len(e.variants), len(on.Read(key, noBodies)))
		}
		_ = on.Close()
	}
}
