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
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// Limits of drafts. A new draft may evict the oldest one of the same actor, never that of another actor.
const (
	maxDrafts       = 32 * maxImport // bytes of all drafts
	maxDraftsNumber = 1000
	maxOfActor      = 5 * maxImport // bytes of the drafts of one actor
	maxOfActorCount = 10
	draftTime       = 7 * 24 * time.Hour // since its last use
)

// draft is an upload that is carried out only after its preview. Its exported fields are stored as JSON.
type draft struct {
	ID      string
	Name    string      // file name, "" for text that was typed or pasted
	Kind    bulk.Format // of the job
	Bytes   int64       // of the file
	Preview bulk.Preview
	Columns []string // the mapping of the columns of a table
	IsData  bool     // the first line of the table is a row, not a header
	Note    string
	// Checked is the ID of the job of the last dry run, "" for none, and Overwrites is true if it was to
	// overwrite registered names.
	Checked    string
	Overwrites bool

	// Select is the change of a selection; only with kindSelection.
	Select *selection `json:",omitempty"`

	used time.Time // time of the last use
	path string    // of its files, without their extensions
}

// isUpload reports whether the draft is a file to be imported.
func (d *draft) isUpload() bool { return d.Kind != jobs.Rewrite && d.Kind != kindSelection }

// isTable reports whether the draft has columns to be mapped.
func (d *draft) isTable() bool { return len(d.Preview.Columns) > 0 }

// Extensions of the files of a draft: the upload, and the draft as JSON. The JSON file is written last, so
// that a draft is complete if it exists.
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

// Drafts are the uploads that are not carried out yet, in a directory: they outlive sessions and restarts.
// They are safe for concurrent use.
type Drafts struct {
	now       func() time.Time
	directory string
	mu        sync.Mutex // serializes changes of files
}

// NewDrafts returns the drafts in a directory, which is created with the first draft.
func NewDrafts(directory string, now func() time.Time) *Drafts {
	return &Drafts{now: now, directory: directory}
}

// ownerOf returns the file name prefix of the drafts of an actor. It depends on the token, so that a later
// session with the same token finds the same drafts.
func ownerOf(actor registry.Actor) string {
	const enough = 16
	sum := sha256.Sum256([]byte(actor.Token + " " + actor.Name))
	return hex.EncodeToString(sum[:enough]) + "-"
}

// begin stores a draft of the actor of a request, and returns it with its ID.
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

// storedDraft is a draft as listed in the directory.
type storedDraft struct {
	path  string
	bytes int64
	used  time.Time
	own   bool
}

// all returns the drafts, the last used one first, and removes expired ones.
func (s *Drafts) all(owner string) (all []storedDraft) {
	entries, err := os.ReadDir(s.directory)
	if err != nil {
		return nil // the directory does not exist yet
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

// makeRoom evicts the oldest drafts of an owner until the limits allow one more, of more bytes.
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
		return invalidAs(registry.ErrJobLimit, "import_full")
	}
	return nil
}

func (s *Drafts) remove(path string) {
	_ = os.Remove(path + draftJSON) // a file that cannot be removed now is removed when it is listed again
	_ = os.Remove(path + draftFile)
}

// write stores a draft as JSON. The modification time of its file is the time of its last use.
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

// find returns a draft of the actor of a request; ok is false if it does not exist or has expired.
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
		_ = s.touch(path) // on an error it only expires earlier
	}
	return d, ok
}

// readDraft reads the JSON file of a draft.
func readDraft(path string) (d draft, ok bool) {
	text, err := os.ReadFile(path + draftJSON) //nolint:gosec // a file of urnd itself
	if err != nil || json.Unmarshal(text, &d) != nil {
		return d, false
	}
	d.path = path
	return d, true
}

// of returns the drafts of the actor of a request, the last used one first.
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

// checkedBy returns the draft of the actor of a request whose last dry run is a job; ok is false for none.
func (s *Drafts) checkedBy(p *Request, job string) (d draft, ok bool) {
	all := s.of(p)
	i := slices.IndexFunc(all, func(d draft) bool { return d.Checked == job })
	if i < 0 {
		return d, false
	}
	return all[i], true
}

// update stores a draft, unless it was removed meanwhile.
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

// storingDraft wraps an error of the file system.
func storingDraft(err error) error {
	return fmt.Errorf("%w: storing the upload: %w", registry.ErrUnavailable, err)
}

// errNoDraft means that a draft does not exist any more.
var errNoDraft = invalidAs(registry.ErrUnknown, "import_gone", "Count", strconv.Itoa(maxOfActorCount))

// gone shows a list in reply to a form that carries out a draft which is no longer stored: after a double click, the
// first request has carried it out, and the list begins with the result.
func gone(p *Request, list func(*Request) (message.Reply, error)) (message.Reply, error) {
	p.Form, p.Panel.Error = nil, errorContent(p.Panel.Writer, errNoDraft)
	reply, err := list(p)
	reply.Status = http.StatusGone
	return reply, err
}
