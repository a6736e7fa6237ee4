package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// operation is an operation of the writer on a file, or an acknowledgement to a client.
type operation struct {
	file string // base name
	kind operationKind
	off  int64
	data []byte
	head registry.Seq // of an acknowledgement
}

type operationKind int

const (
	written operationKind = iota
	truncated
	synced
	removedFile
	acknowledged // durable and acknowledged
)

// recorder is a VFS that records the operations on files, and passes them to the VFS of the system.
type recorder struct {
	vfs.VFS

	mu         sync.Mutex
	operations []operation
}

func (r *recorder) add(o operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, o)
}

func (r *recorder) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := r.VFS.Open(name, flags)
	return r.recorded(f, name), flags, err
}

func (r *recorder) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpenFilename(r.VFS, name, flags)
	return r.recorded(f, name.String()), flags, err
}

func (r *recorder) Delete(name string, syncDir bool) error {
	r.add(operation{file: filepath.Base(name), kind: removedFile})
	return r.VFS.Delete(name, syncDir)
}

func (r *recorder) recorded(f vfs.File, name string) vfs.File {
	if f == nil {
		return nil
	}
	return &recordedFile{f, r, filepath.Base(name)}
}

type recordedFile struct {
	vfs.File
	recorder *recorder
	name     string
}

func (f *recordedFile) WriteAt(b []byte, off int64) (int, error) {
	f.recorder.add(operation{file: f.name, kind: written, off: off, data: bytes.Clone(b)})
	return f.File.WriteAt(b, off)
}

func (f *recordedFile) Truncate(size int64) error {
	f.recorder.add(operation{file: f.name, kind: truncated, off: size})
	return f.File.Truncate(size)
}

func (f *recordedFile) Sync(flags vfs.SyncFlag) error {
	err := f.File.Sync(flags)
	f.recorder.add(operation{file: f.name, kind: synced})
	return err
}

func (f *recordedFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f *recordedFile) LockState() vfs.LockLevel       { return vfsutil.WrapLockState(f.File) }

// disk is the content of a disk: the synchronized content of each file, and the writes since then.
type disk struct {
	files   map[string][]byte
	pending map[string][]operation
}

// apply applies an operation to the content of a file.
func apply(content []byte, o operation) []byte {
	if o.kind == truncated {
		return append(make([]byte, 0, o.off), content[:min(o.off, int64(len(content)))]...)
	}
	if grow := o.off + int64(len(o.data)) - int64(len(content)); grow > 0 {
		content = append(content, make([]byte, grow)...)
	}
	copy(content[o.off:], o.data)
	return content
}

func (d *disk) do(o operation) {
	switch o.kind {
	case written, truncated:
		d.pending[o.file] = append(d.pending[o.file], o)
	case synced:
		for _, p := range d.pending[o.file] {
			d.files[o.file] = apply(d.files[o.file], p)
		}
		delete(d.pending, o.file)
	case removedFile:
		delete(d.files, o.file)
		delete(d.pending, o.file)
	}
}

// sector is the size of an atomic write of a disk, in bytes.
const sector = 512

// cut returns the files after a power cut: of the writes since the last synchronization some are applied, in
// any order, and some of these only in part.
func (d *disk) cut(r *rand.Rand) map[string][]byte {
	left := make(map[string][]byte, len(d.files))
	for file, content := range d.files {
		left[file] = bytes.Clone(content)
	}
	keep := r.Float64()
	for file, pending := range d.pending {
		for _, i := range r.Perm(len(pending)) {
			o := pending[i]
			if r.Float64() > keep {
				continue
			}
			if o.kind == written && r.IntN(4) == 0 {
				o.data = o.data[:min(len(o.data), sector*r.IntN(1+len(o.data)/sector))]
			}
			left[file] = apply(left[file], o)
		}
	}
	return left
}

// changes makes changes of each kind in a store, and records which were acknowledged as durable.
func changes(t *testing.T, s *Store, r *recorder) {
	t.Helper()
	of := registry.New(registry.Config{
		Store: s, Now: time.Now, Canonical: func(text string) (string, error) { return text, nil },
		CanonicalPrefix: func(text string) (string, error) { return text, nil },
	})
	admin := registry.Actor{Name: "admin", Role: registry.Admin}
	acknowledge := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.add(operation{kind: acknowledged, head: head})
	}
	put := func(key registry.Key, record registry.Record) {
		t.Helper()
		_, err := of.Apply(t.Context(), admin,
			registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: registry.Put(record)})
		acknowledge(err)
	}
	put(registry.Prefix("urn:example:test:"), registry.Record{Sandbox: true})
	for i := range 12 {
		put(registry.Name(fmt.Sprintf("urn:example:test:%d", i)),
			registry.Record{
				Status: registry.Reserved, Contact: "anna",
				Metadata: `{"a":"` + strings.Repeat("x", i*1000) + `"}`,
			})
		put(registry.Name("urn:example:a"),
			registry.Record{Targets: []registry.Target{{URI: fmt.Sprintf("https://example.org/%d", i)}}})
		set := registry.ChangeSet{Kind: registry.KindImport, By: "admin", Time: of.Now()}
		for part := range 2 {
			err := s.Bulk(t.Context(), func(tx registry.WriteTx) error {
				b := registry.NewBatch(tx, "admin", of.Now())
				b.SetChangeSet(set)
				for n := range 150 {
					target := []registry.Target{{URI: "https://example.net/" + strings.Repeat("y", n)}}
					if _, _, err := b.Put(registry.Name(fmt.Sprintf("urn:example:%d:%d:%d", i, part, n)),
						registry.Record{Targets: target}, ""); err != nil {
						return err
					}
				}
				_, err := b.Flush()
				set = b.ChangeSet()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		switch i {
		case 5:
			_, err := of.Redact(t.Context(), admin, registry.Name("urn:example:a"), []int{1, 2}, "why")
			acknowledge(err)
		case 7:
			_, err := of.Purge(t.Context(), admin, "urn:example:test:", "over")
			acknowledge(err)
		}
	}
}

// After a power cut between any two operations on the files, everything that was acknowledged is present, and
// only complete transactions: the chain of commits verifies, which covers each transaction as a whole.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	path := filepath.Join(t.TempDir(), "registry.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{VFS: vfs.Find("os")}
	vfs.Register(t.Name(), r)
	defer vfs.Unregister(t.Name())
	s = newStore(path)
	s.vfs = t.Name()
	if err := s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes(t, s, r)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cuts := 150
	if testserver.Long() {
		cuts = 1000
	}
	seed := rand.Uint64()
	t.Logf("%d operations, seed %d", len(r.operations), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	d := &disk{files: map[string][]byte{"registry.db": base}, pending: make(map[string][]operation)}
	head := registry.Seq(0)
	for i, o := range r.operations {
		d.do(o)
		head = max(head, o.head)
		if random.IntN(len(r.operations)) < cuts {
			afterCut(t, d.cut(random), i, head)
		}
	}
}

// afterCut opens the remaining files, and checks that they contain everything up to head.
func afterCut(t *testing.T, files map[string][]byte, at int, head registry.Seq) {
	t.Helper()
	directory := t.TempDir()
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(directory, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer os.RemoveAll(directory)
	s, err := Open(t.Context(), filepath.Join(directory, "registry.db"))
	if err != nil {
		t.Errorf("after a cut at operation %d: %v", at, err)
		return
	}
	defer s.Close()
	if is, err := s.Head(t.Context()); is < head || err != nil {
		t.Errorf("after a cut at operation %d the head is %d, and %d was acknowledged, %v", at, is, head, err)
	}
	err = s.Verify(t.Context(), func(problem string) { t.Errorf("after a cut at operation %d: %s", at, problem) },
		func(registry.Seq, registry.Seq) {})
	if err != nil {
		t.Errorf("after a cut at operation %d: %v", at, err)
	}
}
