package editor

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// Bounds of drafts. A draft of an actor takes the place of that actor's oldest one, never of one of somebody else.
const (
	maxDrafts       = 32 * maxImport // bytes of all
	maxDraftsNumber = 1000
	maxOfActor      = 5 * maxImport // bytes of one actor
	maxOfActorCount = 10
	draftTime       = 7 * 24 * time.Hour // since its last use
)

// draft is what somebody has sent, to be done only when he has seen what it would change. Its fields are stored as JSON.
type draft struct {
	ID      string
	Name    string      // of the file, "" for what was typed or pasted
	Kind    bulk.Format // of the job
	Bytes   int64       // of the file
	Preview bulk.Preview
	Columns []string // what was said of those of a table
	IsData  bool     // the first line of the table is a row
	Note    string
	// Checked is the job that was its dry run, "" before, and Overwrites whether that was to overwrite what is registered.
	Checked    string
	Overwrites bool

	// Select is what is done with names: of kindSelection.
	Select *selection `json:",omitempty"`

	used time.Time // last
	path string    // of its files, without their extensions
}

// isUpload reports whether it is a file that is imported.
func (d *draft) isUpload() bool { return d.Kind != jobs.Rewrite && d.Kind != kindSelection }

// isTable reports whether its columns are mapped.
func (d *draft) isTable() bool { return len(d.Preview.Columns) > 0 }

// The files of a draft: what was sent, and what is known of it. The file of what is known is written last, so that a draft is complete.
const (
	draftFile = ".file"
	draftJSON = ".json"
)

// file opens the file of a draft.
func (d *draft) file() (*os.File, error) {
	f, err := os.Open(d.path + draftFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoDraft
	}
	if err != nil {
		return nil, storingDraft(err)
	}
	return f, nil
}

// beginning returns at most n bytes of the file.
func (d *draft) beginning(n int64) ([]byte, error) {
	f, err := d.file()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return nil, storingDraft(err)
	}
	return text, nil
}

// Drafts are what people have sent and not done yet, in a directory: they outlive logins and restarts. They are safe for concurrent use.
type Drafts struct {
	now       func() time.Time
	directory string
	mu        sync.Mutex // of what changes files
}

// NewDrafts returns the drafts in a directory, which is made with the first one.
func NewDrafts(directory string, now func() time.Time) *Drafts {
	return &Drafts{now: now, directory: directory}
}

// ownerOf returns what the files begin with of who has sent a request. Whoever logs in again with the same token has the same ones.
func ownerOf(actor registry.Actor) string {
	const enough = 16
	sum := sha256.Sum256([]byte(actor.Token + " " + actor.Name))
	return hex.EncodeToString(sum[:enough]) + "-"
}

// begin stores a draft of who has sent a request, and returns it with its identifier.
func (s *Drafts) begin(p *Request, d draft, file []byte) (draft, error) {
	owner := ownerOf(p.Actor)
	d.ID, d.Bytes = rand.Text(), int64(len(file))
	d.path = filepath.Join(s.directory, owner+d.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	const ownerOnly, ownerOnlyDirectory = 0o600, 0o700
	if err := os.MkdirAll(s.directory, ownerOnlyDirectory); err != nil {
		return d, storingDraft(err)
	}
	if err := s.makeRoom(owner, d.Bytes); err != nil {
		return d, err
	}
	err := os.WriteFile(d.path+draftFile, file, ownerOnly)
	if err == nil {
		err = s.write(&d)
	}
	if err != nil {
		s.remove(d.path)
		return d, storingDraft(err)
	}
	return d, nil
}

// storedDraft is a draft as the directory shows it.
type storedDraft struct {
	path  string
	bytes int64
	used  time.Time
	own   bool
}

// all returns the drafts, the one that was used last first, and removes those that were not used for long.
func (s *Drafts) all(owner string) (all []storedDraft) {
	entries, err := os.ReadDir(s.directory)
	if err != nil {
		return nil // there was none yet
	}
	for _, entry := range entries {
		name, isFile := strings.CutSuffix(entry.Name(), draftFile)
		info, err := entry.Info()
		if !isFile || err != nil {
			continue
		}
		d := storedDraft{filepath.Join(s.directory, name), info.Size(), info.ModTime(), strings.HasPrefix(name, owner)}
		if s.now().Sub(d.used) >= draftTime {
			s.remove(d.path)
			continue
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b storedDraft) int { return b.used.Compare(a.used) })
	return all
}

// makeRoom removes the oldest drafts of an owner where he has too many for one more.
func (s *Drafts) makeRoom(owner string, more int64) error {
	bytes, number := more, 1
	ofOwner, numberOfOwner := more, 1
	var own []storedDraft
	for _, d := range s.all(owner) {
		if bytes, number = bytes+d.bytes, number+1; d.own {
			own = append(own, d)
			ofOwner, numberOfOwner = ofOwner+d.bytes, numberOfOwner+1
		}
	}
	for ; len(own) > 0; own = own[:len(own)-1] {
		isFull := bytes > maxDrafts || number > maxDraftsNumber
		if !isFull && ofOwner <= maxOfActor && numberOfOwner <= maxOfActorCount {
			break
		}
		oldest := own[len(own)-1]
		s.remove(oldest.path)
		bytes, number, ofOwner, numberOfOwner = bytes-oldest.bytes, number-1, ofOwner-oldest.bytes, numberOfOwner-1
	}
	if bytes > maxDrafts || number > maxDraftsNumber {
		return refuseAs(registry.ErrJobs, "import_full")
	}
	return nil
}

func (s *Drafts) remove(path string) {
	_ = os.Remove(path + draftJSON) // what cannot be removed now is when it is seen again
	_ = os.Remove(path + draftFile)
}

// write stores what is known of a draft. The time of its file is that of its last use.
func (s *Drafts) write(d *draft) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	const ownerOnly = 0o600
	next := d.path + ".next"
	if err := os.WriteFile(next, text, ownerOnly); err != nil {
		_ = os.Remove(next)
		return err
	}
	return cmp.Or(os.Rename(next, d.path+draftJSON), s.touch(d.path))
}

func (s *Drafts) touch(path string) error { return os.Chtimes(path+draftFile, s.now(), s.now()) }

// find returns a draft of who has sent a request; ok is false for none, or no more.
func (s *Drafts) find(p *Request, id string) (d draft, ok bool) {
	if len(id) != len(rand.Text()) || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return d, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.directory, ownerOf(p.Actor)+id)
	info, err := os.Stat(path + draftFile)
	if err != nil || s.now().Sub(info.ModTime()) >= draftTime {
		return d, false
	}
	if d, ok = readDraft(path); ok {
		_ = s.touch(path) // or it is there for a shorter time
	}
	return d, ok
}

// readDraft reads what is known of a draft.
func readDraft(path string) (d draft, ok bool) {
	text, err := os.ReadFile(path + draftJSON) //nolint:gosec // it is ours
	if err != nil || json.Unmarshal(text, &d) != nil {
		return d, false
	}
	d.path = path
	return d, true
}

// of returns the drafts of who has sent a request, the one that was used last first.
func (s *Drafts) of(p *Request) (all []draft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stored := range s.all(ownerOf(p.Actor)) {
		if !stored.own {
			continue
		}
		if d, ok := readDraft(stored.path); ok {
			d.used = stored.used
			all = append(all, d)
		}
	}
	return all
}

// checkedBy returns the draft of who has sent a request whose last dry run is a job; ok is false where there is none.
func (s *Drafts) checkedBy(p *Request, job string) (d draft, ok bool) {
	all := s.of(p)
	i := slices.IndexFunc(all, func(d draft) bool { return d.Checked == job })
	if i < 0 {
		return d, false
	}
	return all[i], true
}

// update stores what is known of a draft, unless it is gone meanwhile.
func (s *Drafts) update(d draft) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(d.path + draftJSON); err != nil {
		return errNoDraft
	}
	if err := s.write(&d); err != nil {
		return storingDraft(err)
	}
	return nil
}

// end removes a draft.
func (s *Drafts) end(d draft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(d.path)
}

// storingDraft says that files cannot be stored now.
func storingDraft(err error) error {
	return fmt.Errorf("%w: storing what was sent: %w", registry.ErrNoStore, err)
}

// errNoDraft means that a draft is not there any more.
var errNoDraft = refuseAs(registry.ErrUnknown, "import_gone", "Count", strconv.Itoa(maxOfActorCount))
