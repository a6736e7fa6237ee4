package editor

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
)

// Whatever files are sent with a token, by as many browsers, those of others stay, and others can send theirs.
func TestDraftsOfTokens(t *testing.T) {
	request := func(token, browser string) *Request {
		return &Request{Actor: registry.Actor{Name: "n", Token: token}, Field: pages.Field{Value: browser}}
	}
	for _, tt := range []struct {
		name   string
		octets int
		number int
	}{{"large ones", maxImport, 100}, {"many", 1, 5000}} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1_900_000_000, 0)
			s := NewDrafts(func() time.Time { return now })
			other := request("other", "b")
			if _, err := s.begin(other, draft{text: make([]byte, maxImport)}); err != nil {
				t.Fatal(err)
			}
			file := make([]byte, tt.octets)
			for i := range tt.number {
				now = now.Add(time.Millisecond)
				if _, err := s.begin(request("adversary", strconv.Itoa(i)), draft{text: file}); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := s.of(other); !ok {
				t.Error("the draft of another one is gone")
			}
			if octets, number, _ := s.ofActor("adversary n"); octets > maxOfActor || number > maxOfActorCount {
				t.Errorf("the adversary has %d drafts of %d octets", number, octets)
			}
			if _, err := s.begin(request("", "c"), draft{text: make([]byte, maxImport)}); err != nil {
				t.Errorf("the administrator: %v", err)
			}
		})
	}
	// Where several have as much as they may, one more is told so, and ends no draft.
	s := NewDrafts(time.Now)
	tokens := []string{"a", "b", "c"}
	for _, token := range tokens {
		if _, err := s.begin(request(token, ""), draft{text: make([]byte, maxImport)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.begin(request("d", ""), draft{text: make([]byte, maxImport)}); !errors.Is(err, registry.ErrJobs) {
		t.Errorf("there is no room: %v", err)
	}
	for _, token := range tokens {
		if _, ok := s.of(request(token, "")); !ok {
			t.Errorf("the draft of %s is gone", token)
		}
	}
}
