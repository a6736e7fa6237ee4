package editor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

func requestOf(name string) *Request {
	return &Request{Actor: registry.Actor{Name: "n", Token: name}}
}

// takeUp creates a draft with the size of a number of bytes, without writing them.
func takeUp(t *testing.T, s *Drafts, name string, bytes int64) (draft, error) {
	t.Helper()
	d, err := s.begin(requestOf(name), draft{Kind: bulk.NDJSON}, nil)
	if err == nil {
		err = os.Truncate(d.path+draftFile, bytes)
	}
	if err == nil {
		err = s.touch(d.path)
	}
	return d, err
}

// Uploads with one token neither evict nor prevent drafts of other tokens.
func TestDraftsOfTokens(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bytes  int64
		number int
	}{{"large ones", maxImport, 20}, {"many", 1, 100}} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1_900_000_000, 0)
			s := NewDrafts(filepath.Join(t.TempDir(), "drafts"), func() time.Time { return now })
			other, err := takeUp(t, s, "other", maxImport)
			if err != nil {
				t.Fatal(err)
			}
			var last draft
			for range tt.number {
				now = now.Add(time.Second)
				if last, err = takeUp(t, s, "adversary", tt.bytes); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := s.find(requestOf("other"), other.ID); !ok {
				t.Error("the draft of another one is gone")
			}
			if _, ok := s.find(requestOf("other"), last.ID); ok {
				t.Error("the draft of another one is found")
			}
			all := s.of(requestOf("adversary"))
			if len(all) > maxOfActorCount || int64(len(all))*tt.bytes > maxOfActor+maxImport || all[0].ID != last.ID {
				t.Errorf("the adversary has %d drafts", len(all))
			}
		})
	}
}

// If several actors have reached their limits, a new draft is rejected and evicts none.
func TestDraftStorageLimit(t *testing.T) {
	s := NewDrafts(t.TempDir(), time.Now)
	first, err := takeUp(t, s, "first", maxDrafts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.begin(requestOf("second"), draft{}, []byte("x")); !errors.Is(err, registry.ErrJobLimit) {
		t.Errorf("no space: %v", err)
	}
	if _, ok := s.find(requestOf("first"), first.ID); !ok {
		t.Error("the draft of another one is gone")
	}
}

// Drafts survive a restart, and expire a week after their last use, even if their files are damaged.
func TestStoredDrafts(t *testing.T) {
	now, directory := time.Unix(1_900_000_000, 0), t.TempDir()
	clock := func() time.Time { return now }
	p := requestOf("a")
	d, err := NewDrafts(directory, clock).begin(p, draft{Name: "a.csv", Kind: bulk.CSV, Columns: []string{"name"}},
		[]byte("name\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewDrafts(directory, clock)
	now = now.Add(draftTime - 1)
	if got, ok := s.find(p, d.ID); !ok || got.Name != "a.csv" || got.Columns[0] != "name" {
		t.Errorf("%+v, %v", got, ok)
	}
	d.Checked = "job"
	if err := s.update(d); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.checkedBy(p, "job"); !ok || got.ID != d.ID {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, id := range []string{"", "../" + d.ID, d.ID[1:], d.ID + "A"} {
		if _, ok := s.find(p, id); ok {
			t.Errorf("%q is found", id)
		}
	}
	if err := os.WriteFile(d.path+draftJSON, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.find(p, d.ID); ok || len(s.of(p)) > 0 {
		t.Error("a damaged draft is found")
	}
	now = now.Add(draftTime)
	if _, ok := s.find(p, d.ID); ok {
		t.Error("it does not end")
	}
	s.of(p)
	if left, _ := os.ReadDir(directory); len(left) > 0 {
		t.Errorf("there is %v left", left)
	}
	if err := s.update(d); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("it is stored again: %v", err)
	}
}
