package editor

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Bounds of drafts.
const (
	maxDrafts       = 64 << 20 // octets of all
	maxDraftsNumber = 1000
	maxOfActor      = maxImport + 1<<20 // octets of one actor, in all of its browsers
	maxOfActorCount = 10
	draftTime       = 30 * time.Minute // since it was used last
)

// draft is what somebody has sent, to be a job for real only when he has seen what it would change. It is in memory alone.
type draft struct {
	id    string
	owner string // a browser of an actor: it has one draft at a time
	actor string
	used  time.Time

	name    string      // of the file, "" for what was typed or pasted
	kind    bulk.Format // of the job
	text    []byte
	preview bulk.Preview // of a table
	columns []string     // what was said of its columns
	isData  bool         // its first line is a row
	note    string
	// checked is the job that was its dry run, "" before, and overwrites whether that was to overwrite what is registered.
	checked    string
	overwrites bool
}

// octets is how much memory a draft is counted as.
func (d *draft) octets() int {
	const others, aText = 4 << 10, 16
	n := len(d.text) + len(d.name) + len(d.note) + others
	for _, texts := range append([][]string{d.preview.Columns, d.columns}, d.preview.Rows...) {
		for _, text := range texts {
			n += len(text) + aText
		}
	}
	return n
}

// isTable reports whether its columns are mapped.
func (d *draft) isTable() bool { return len(d.preview.Columns) > 0 }

// Drafts are those of all people. They outlive a reload, and are safe for concurrent use.
type Drafts struct {
	now func() time.Time

	mu     sync.Mutex
	all    map[string]*draft // by owner
	octets int
}

// NewDrafts returns Drafts of nobody.
func NewDrafts(now func() time.Time) *Drafts { return &Drafts{now: now, all: make(map[string]*draft)} }

// ownerOf returns the owner of drafts who has sent a request.
func ownerOf(p *Request) string { return p.Actor.Token + " " + p.Actor.Name + " " + p.Field.Value }

// begin keeps a new draft of who has sent a request, in place of the one before, and returns its identifier.
func (s *Drafts) begin(p *Request, d draft) (id string, err error) {
	d.id, d.owner, d.actor, d.used = rand.Text(), ownerOf(p), p.Actor.Token+" "+p.Actor.Name, s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(d.owner)
	if err := s.makeRoom(&d); err != nil {
		return "", err
	}
	s.all[d.owner], s.octets = &d, s.octets+d.octets()
	return d.id, nil
}

// makeRoom forgets what was not used for long, and then what the same actor has in other browsers, which has a part of the room: nobody ends
// the draft of another one.
func (s *Drafts) makeRoom(d *draft) error {
	for owner, one := range s.all {
		if s.isOver(one) {
			s.remove(owner)
		}
	}
	for {
		octets, number, oldest := s.ofActor(d.actor)
		isAllFull := len(s.all) >= maxDraftsNumber || s.octets+d.octets() > maxDrafts
		if !isAllFull && (oldest == nil || octets+d.octets() <= maxOfActor && number < maxOfActorCount) {
			return nil
		}
		if oldest == nil {
			return fmt.Errorf("%w: the files of others are being looked at; try again in half an hour, or send yours by the API or the command", registry.ErrJobs)
		}
		s.remove(oldest.owner)
	}
}

// ofActor returns how many octets and drafts an actor has, and the one that was not used for the longest time, nil for none.
func (s *Drafts) ofActor(actor string) (octets, number int, oldest *draft) {
	for _, one := range s.all {
		if one.actor != actor {
			continue
		}
		octets, number = octets+one.octets(), number+1
		if oldest == nil || one.used.Before(oldest.used) {
			oldest = one
		}
	}
	return octets, number, oldest
}

func (s *Drafts) isOver(d *draft) bool { return s.now().Sub(d.used) >= draftTime }

func (s *Drafts) remove(owner string) {
	if d := s.all[owner]; d != nil {
		s.octets -= d.octets()
		delete(s.all, owner)
	}
}

// of returns the draft of who has sent a request; ok is false for none, or no more.
func (s *Drafts) of(p *Request) (d draft, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[ownerOf(p)]
	switch {
	case found == nil:
		return draft{}, false
	case s.isOver(found):
		s.remove(found.owner)
		return draft{}, false
	}
	found.used, d = s.now(), *found
	d.columns = slices.Clone(d.columns) // a second tab may change them at the same time
	return d, true
}

// keep keeps what was said of a draft, unless there is another one meanwhile.
func (s *Drafts) keep(d draft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.all[d.owner]; found != nil && found.id == d.id {
		s.octets -= found.octets()
		found.columns, found.isData, found.note, found.checked, found.overwrites = d.columns, d.isData, d.note, d.checked, d.overwrites
		s.octets += found.octets()
	}
}

// end forgets a draft.
func (s *Drafts) end(d draft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.all[d.owner]; found != nil && found.id == d.id {
		s.remove(d.owner)
	}
}

// errNoDraft means that a draft is not there any more.
var errNoDraft = fmt.Errorf("%w: the file is not here any more: it is kept for half an hour since you have used it last, until you send another one, or urnd is "+
	"restarted; send it once more", registry.ErrUnknown)
