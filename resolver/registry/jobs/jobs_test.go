package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/resolver/registry/token"
)

// held is a store in which an import blocks until it is cancelled, after it has read its input.
type held struct {
	registry.Store
	hold chan struct{} // closed when the import blocks
	once *sync.Once
}

func (h held) Read(ctx context.Context, f func(registry.Tx) error) error {
	return h.Store.Read(ctx, func(tx registry.Tx) error { return f(heldTx{tx, ctx, h}) })
}

type heldTx struct {
	registry.Tx
	ctx  context.Context
	held held
}

func (h heldTx) Document(table registry.Table, key string) ([]byte, error) {
	if table != registry.TableImports {
		return h.Tx.Document(table, key)
	}
	h.held.once.Do(func() { close(h.held.hold) })
	<-h.ctx.Done()
	return nil, h.ctx.Err()
}

const several = 100

var (
	root   = registry.Actor{Name: "root", Role: registry.Admin}
	writer = registry.Actor{Name: "w", Role: registry.Writer, Token: "0011223344556677", Prefixes: []string{"urn:x:"}}
	other  = registry.Actor{Name: "o", Role: registry.Writer, Token: "8899aabbccddeeff"}
)

const maxBody = 4 << 20

// newJobs returns the jobs of a store in a directory.
func newJobs(store registry.Store, dir string, log io.Writer) (*jobs.Jobs, *registry.Registry) {
	same := func(text string) (string, error) {
		if !strings.HasPrefix(text, "urn:") {
			return "", fmt.Errorf("%q is not a URN", text)
		}
		return text, nil
	}
	r := registry.New(registry.Config{Store: store, Canonical: same, CanonicalPrefix: same, Now: time.Now})
	return jobs.New(jobs.Config{
		Registry: r, Directory: filepath.Join(dir, "jobs"), MaxBody: maxBody,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}), r
}

func openStore(t *testing.T, dir string) registry.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// running runs jobs until end is called.
func running(t *testing.T, j *jobs.Jobs) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { j.Run(ctx) })
	end = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(end)
	return end
}

func accept(t *testing.T, j *jobs.Jobs, actor registry.Actor, key, body string) jobs.Job {
	t.Helper()
	job, _, err := j.Accept(t.Context(), actor,
		jobs.Upload{Format: bulk.NDJSON, Key: key, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// await waits until a job has a state, and returns it.
func await(t *testing.T, j *jobs.Jobs, id string, state jobs.State) (job jobs.Job) {
	t.Helper()
	testserver.Wait(t, "the job is "+string(state), func() bool {
		var err error
		if job, err = j.Get(context.WithoutCancel(t.Context()), root, id); err != nil {
			t.Fatal(err)
		}
		return job.State == state
	})
	return job
}

// lines returns n lines, every tenth of which has a name that the writer may not change.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		nid := "x"
		if i%10 == 9 {
			nid = "y"
		}
		fmt.Fprintf(&b, `{"name":"urn:%s:%d","targets":[{"uri":"https://a.example/%d"}]}`+"\n", nid, i, i)
	}
	return b.String()
}

func TestJob(t *testing.T) {
	dir, log := t.TempDir(), new(bytes.Buffer)
	j, r := newJobs(openStore(t, dir), dir, log)
	end := running(t, j)
	made, _, err := token.Create(t.Context(), r, root,
		token.Token{Name: "w", Role: registry.Writer, Prefixes: []string{"urn:x:"}})
	if err != nil {
		t.Fatal(err)
	}
	writer := made.Actor()
	const n = 10_000
	job := await(t, j, accept(t, j, writer, "", lines(n)).ID, jobs.Done)
	if job.Report == nil || job.Report.New != n*9/10 || job.Report.Rejected != n/10 || len(job.Rejections) != 20 ||
		job.Progress.Lines != n || job.Ended.IsZero() || job.By != "w" {
		t.Errorf("%+v, %+v", job, job.Report)
	}
	if first := job.Rejections[0]; first.Line != 10 || !strings.Contains(first.Reason, "not permitted") {
		t.Errorf("%+v", first)
	}
	rejected, err := j.Rejected(t.Context(), writer, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer rejected.Close()
	text, _ := io.ReadAll(rejected)
	if count := bytes.Count(text, []byte("\n")); count != n/10 {
		t.Errorf("%d lines are in the file", count)
	}
	if e, err := r.Get(t.Context(), registry.Name("urn:x:1")); err != nil || e.By != "w" || len(e.Targets) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	// Repeating it changes nothing.
	again := await(t, j, accept(t, j, writer, "", lines(n)).ID, jobs.Done)
	if again.Report.New != 0 || again.Report.Changed != 0 {
		t.Errorf("%+v", again.Report)
	}
	end()
	if bodies, _ := filepath.Glob(filepath.Join(dir, "jobs", "*", "*.body")); len(bodies) != 0 {
		t.Errorf("%q were not removed", bodies)
	}
	if text := log.String(); !strings.Contains(text, "registry job ended") || !strings.Contains(text, "new=9000") ||
		!strings.Contains(text, "token="+made.ID) {
		t.Errorf("the log is %s", text)
	}
}

// The body of a job is read in the requested encoding; a different encoding makes a different request.
func TestEncodingOfJob(t *testing.T) {
	dir := t.TempDir()
	j, r := newJobs(openStore(t, dir), dir, new(bytes.Buffer))
	running(t, j)
	u := jobs.Upload{
		Format: bulk.CSV, Encoding: "latin1", Key: "k",
		Body: strings.NewReader("name,target,metadata.title\nurn:x:a,https://a.example/,\xc4iti\n"),
	}
	job, _, err := j.Accept(t.Context(), root, u)
	if err != nil || job.Encoding != "latin1" {
		t.Fatalf("%+v, %v", job, err)
	}
	await(t, j, job.ID, jobs.Done)
	if e, err := r.Get(t.Context(), registry.Name("urn:x:a")); err != nil || e.Metadata != `{"title":"Äiti"}` {
		t.Errorf("%+v, %v", e, err)
	}
	u.Encoding, u.Body = "", strings.NewReader("name,target,metadata.title\nurn:x:a,https://a.example/,\xc4iti\n")
	if _, _, err := j.Accept(t.Context(), root, u); !errors.Is(err, registry.ErrKeyReused) {
		t.Errorf("got %v", err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	dir := t.TempDir()
	j, _ := newJobs(openStore(t, dir), dir, io.Discard)
	first := accept(t, j, writer, "k", "{}\n")
	for _, tt := range []struct {
		name  string
		actor registry.Actor
		key   string
		body  string
		note  string
		same  bool
		want  error
	}{
		{"again", writer, "k", "{}\n", "", true, nil},
		{"another body", writer, "k", "{}\n\n", "", false, registry.ErrKeyReused},
		{"another note", writer, "k", "{}\n", "n", false, registry.ErrKeyReused},
		{"another key", writer, "l", "{}\n", "", false, nil},
		{"no key", writer, "", "{}\n", "", false, nil},
		{"another client", other, "k", "{}\n", "", false, nil},
		{"a key of two words", writer, "k l", "{}\n", "", false, registry.ErrInvalid},
		{"a long key", writer, strings.Repeat("k", 201), "{}\n", "", false, registry.ErrInvalid},
	} {
		job, isNew, err := j.Accept(t.Context(), tt.actor,
			jobs.Upload{Format: bulk.NDJSON, Key: tt.key, Note: tt.note, Body: strings.NewReader(tt.body)})
		if !errors.Is(err, tt.want) || err == nil && ((job.ID == first.ID) != tt.same || isNew == tt.same) {
			t.Errorf("%s: %s, %v, %v", tt.name, job.ID, isNew, err)
		}
	}
	// Concurrent requests make one job.
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			job, _, err := j.Accept(context.WithoutCancel(t.Context()), writer,
				jobs.Upload{Format: bulk.CSV, Key: "many", Body: strings.NewReader("name,target\n")})
			if ids[i] = job.ID; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("%q", ids)
		}
	}
}

func TestNotAccepted(t *testing.T) {
	dir := t.TempDir()
	j, _ := newJobs(openStore(t, dir), dir, io.Discard)
	for _, tt := range []struct {
		name   string
		actor  registry.Actor
		upload jobs.Upload
		want   error
	}{
		{
			"by a reader",
			registry.Actor{Role: registry.Reader},
			jobs.Upload{Format: bulk.CSV, Body: strings.NewReader("")},
			registry.ErrDenied,
		},
		{"without a format", writer, jobs.Upload{Body: strings.NewReader("")}, registry.ErrInvalid},
		{
			"of an encoding that there is not", writer,
			jobs.Upload{Format: bulk.CSV, Encoding: "utf-7", Body: strings.NewReader("")},
			registry.ErrInvalid,
		},
		{
			"a rewrite with an encoding", writer,
			jobs.Upload{Format: jobs.Rewrite, Encoding: "latin1", Body: strings.NewReader("{}")},
			registry.ErrInvalid,
		},
		{
			"of a format for files", writer,
			jobs.Upload{Format: bulk.Bioregistry, Body: strings.NewReader("")},
			registry.ErrInvalid,
		},
		{
			"too large", writer,
			jobs.Upload{Format: bulk.CSV, Body: io.LimitReader(zeros{}, maxBody+1)},
			jobs.ErrTooLarge,
		},
		{
			"gzip", writer,
			jobs.Upload{Format: bulk.CSV, Body: strings.NewReader("\x1f\x8b\x08\x00")},
			jobs.ErrCompressed,
		},
		{
			"zstd", writer,
			jobs.Upload{Format: bulk.CSV, Body: strings.NewReader("\x28\xb5\x2f\xfd")},
			jobs.ErrCompressed,
		},
		{
			"broken off", writer,
			jobs.Upload{Format: bulk.CSV, Body: io.MultiReader(strings.NewReader("name"), broken{})},
			registry.ErrInvalid,
		},
	} {
		if _, _, err := j.Accept(t.Context(), tt.actor, tt.upload); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "jobs", "*", "*")); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the connection was lost") }

func TestWhoMayKnow(t *testing.T) {
	dir := t.TempDir()
	j, _ := newJobs(openStore(t, dir), dir, io.Discard)
	job := accept(t, j, writer, "", "{}\n")
	limited := registry.Actor{Name: "a", Role: registry.Admin, Prefixes: []string{"urn:x:"}}
	for _, tt := range []struct {
		actor registry.Actor
		id    string
		want  error
	}{
		{writer, job.ID, nil},
		{root, job.ID, nil},
		{other, job.ID, registry.ErrUnknownJob},
		{limited, job.ID, registry.ErrUnknownJob},
		{root, "", registry.ErrUnknownJob},
		{root, "../" + job.ID[3:], registry.ErrUnknownJob},
		{root, job.ID[:31] + "\x00", registry.ErrUnknownJob},
		{root, strings.Repeat("0", len(job.ID)), registry.ErrUnknownJob},
	} {
		_, err := j.Get(t.Context(), tt.actor, tt.id)
		_, rejectedErr := j.Rejected(t.Context(), tt.actor, tt.id)
		if !errors.Is(err, tt.want) || tt.want != nil && !errors.Is(rejectedErr, tt.want) {
			t.Errorf("%s, %q: %v, %v", tt.actor.Name, tt.id, err, rejectedErr)
		}
	}
	for _, tt := range []struct {
		actor registry.Actor
		n     int
	}{{writer, 1}, {root, 1}, {other, 0}} {
		if list, err := j.List(t.Context(), tt.actor); err != nil || len(list) != tt.n {
			t.Errorf("%s: %v, %v", tt.actor.Name, list, err)
		}
	}
	if _, err := j.Cancel(t.Context(), other, job.ID); !errors.Is(err, registry.ErrUnknownJob) {
		t.Errorf("cancelled by another one: %v", err)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	store := held{openStore(t, dir), make(chan struct{}), new(sync.Once)}
	j, _ := newJobs(store, dir, io.Discard)
	queued := accept(t, j, root, "", lines(10))
	if job, err := j.Cancel(t.Context(), root, queued.ID); err != nil || job.State != jobs.Cancelled {
		t.Errorf("%+v, %v", job, err)
	}
	if _, err := j.Cancel(t.Context(), root, queued.ID); !errors.Is(err, jobs.ErrEnded) {
		t.Errorf("%v", err)
	}
	job := accept(t, j, root, "", lines(several))
	running(t, j)
	<-store.hold
	await(t, j, job.ID, jobs.Running)
	if _, err := j.Cancel(t.Context(), root, job.ID); err != nil {
		t.Error(err)
	}
	if job := await(t, j, job.ID, jobs.Cancelled); job.Error != "" || job.Ended.IsZero() {
		t.Errorf("%+v", job)
	}
}

// A job whose token is revoked ends.
func TestRevokedJob(t *testing.T) {
	dir := t.TempDir()
	store := held{openStore(t, dir), make(chan struct{}), new(sync.Once)}
	j, r := newJobs(store, dir, io.Discard)
	made, _, err := token.Create(t.Context(), r, root, token.Token{Name: "t", Role: registry.Writer})
	if err != nil {
		t.Fatal(err)
	}
	runs, waits := accept(t, j, made.Actor(), "", lines(several)), accept(t, j, made.Actor(), "", lines(several))
	running(t, j)
	<-store.hold
	if _, err := token.Revoke(t.Context(), r, root, made.ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{runs.ID, waits.ID} {
		if job := await(t, j, id, jobs.Failed); !strings.Contains(job.Error, "token") {
			t.Errorf("%+v", job)
		}
	}
}

// An interrupted job is continued: by a new configuration, and after a crash.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	holding := held{store, make(chan struct{}), new(sync.Once)}
	before, _ := newJobs(holding, dir, io.Discard)
	job := accept(t, before, root, "", lines(several))
	end := running(t, before)
	<-holding.hold
	after, _ := newJobs(store, dir, io.Discard)
	endOther := running(t, after) // while the other one still runs the job
	end()
	if job := await(t, after, job.ID, jobs.Done); job.Report.New != several || job.Progress.Done != several {
		t.Errorf("%+v", job)
	}
	endOther()

	crashed := accept(t, after, root, "", lines(several+100))
	err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		value, err := tx.Document(registry.TableJobs, "job "+crashed.ID)
		if err != nil {
			return err
		}
		value = bytes.Replace(value, []byte(`"state":"queued"`), []byte(`"state":"running"`), 1)
		return tx.Put(registry.TableJobs, []registry.Document{{Key: "job " + crashed.ID, Value: value}})
	})
	if err != nil {
		t.Fatal(err)
	}
	orphans := []string{
		filepath.Join(dir, "jobs", "administrators", strings.Repeat("0", len(job.ID))+".body"),
		filepath.Join(dir, "jobs", "administrators", strings.Repeat("1", len(job.ID))+".upload"),
	}
	for _, orphan := range orphans {
		if err := os.WriteFile(orphan, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	running(t, after)
	if job := await(t, after, crashed.ID, jobs.Done); job.Report.New != 100 || job.Report.Unchanged != several {
		t.Errorf("%+v", job.Report)
	}
	testserver.Wait(t, "files without a job are removed", func() bool {
		for _, orphan := range orphans {
			if _, err := os.Stat(orphan); err == nil {
				return false
			}
		}
		return true
	})
}

// Jobs run in the order in which they were accepted, even within one second: the later import wins.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	j, r := newJobs(store, dir, io.Discard)
	var last jobs.Job
	const n = 8
	for i := range n {
		body := fmt.Sprintf(`{"name":"urn:x:a","targets":["https://a.example/%d"]}`, i)
		var err error
		if last, _, err = j.Accept(t.Context(), root,
			jobs.Upload{Format: bulk.NDJSON, Overwrite: true, Body: strings.NewReader(body)}); err != nil {
			t.Fatal(err)
		}
	}
	running(t, j)
	await(t, j, last.ID, jobs.Done)
	history, err := r.History(t.Context(), registry.Name("urn:x:a"), 0, n+1)
	if err != nil || len(history) != n {
		t.Fatalf("there are %d versions, %v", len(history), err)
	}
	for i, e := range history {
		if want := fmt.Sprintf("https://a.example/%d", n-1-i); e.Targets[0].URI != want {
			t.Errorf("version %d leads to %s, want %s", e.Version, e.Targets[0].URI, want)
		}
	}
}

// flaky is a store that becomes unavailable when the import of a job begins to write.
type flaky struct {
	registry.Store
	failed *atomic.Bool
}

func (f flaky) Read(ctx context.Context, do func(registry.Tx) error) error {
	return f.Store.Read(ctx, func(tx registry.Tx) error { return do(flakyTx{tx, f.failed}) })
}

type flakyTx struct {
	registry.Tx
	failed *atomic.Bool
}

func (f flakyTx) Document(table registry.Table, key string) ([]byte, error) {
	if table == registry.TableImports && f.failed.CompareAndSwap(false, true) {
		return nil, registry.ErrUnavailable
	}
	return f.Tx.Document(table, key)
}

// A job that an error of the store has stopped runs before later ones, and so does one that another instance
// runs.
func TestOrderAfterFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	store := openStore(t, dir)
	there, _ := newJobs(store, elsewhere, io.Discard)
	j, r := newJobs(flaky{store, new(atomic.Bool)}, dir, io.Discard)
	for i, at := range []*jobs.Jobs{j, there, j} {
		body := fmt.Sprintf(`{"name":"urn:x:a","targets":["https://a.example/%d"]}`, i)
		if _, _, err := at.Accept(t.Context(), root,
			jobs.Upload{Format: bulk.NDJSON, Overwrite: true, Body: strings.NewReader(body)}); err != nil {
			t.Fatal(err)
		}
	}
	running(t, there)
	running(t, j)
	testserver.Wait(t, "all jobs are done", func() bool {
		list, err := j.List(context.WithoutCancel(t.Context()), root)
		return err == nil && !slices.ContainsFunc(list, func(of jobs.Job) bool { return of.State != jobs.Done })
	})
	history, err := r.History(t.Context(), registry.Name("urn:x:a"), 0, 4)
	if err != nil || len(history) != 3 {
		t.Fatalf("there are %d versions, %v", len(history), err)
	}
	for i, e := range history {
		if want := fmt.Sprintf("https://a.example/%d", 2-i); e.Targets[0].URI != want {
			t.Errorf("version %d leads to %s, want %s", e.Version, e.Targets[0].URI, want)
		}
	}
}

// A rejected line is truncated in the file, and is valid JSON.
func TestHostileLines(t *testing.T) {
	dir := t.TempDir()
	j, _ := newJobs(openStore(t, dir), dir, io.Discard)
	running(t, j)
	body := "\x00\xff\n" + strings.Repeat("[", 10_000) + "\n" + `{"name":"urn:x:a\r\nX: y","status":"gone"}` + "\n" +
		`{"name":"urn:x:good","status":"reserved"}` + "\n"
	job := await(t, j, accept(t, j, root, "", body).ID, jobs.Done)
	if job.Report.Rejected != 3 || job.Report.New != 1 {
		t.Errorf("%+v", job.Report)
	}
	f, err := j.Rejected(t.Context(), root, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var line jobs.Rejection
		if err := d.Decode(&line); err != nil || line.Line == 0 || len(line.Input) > 600 {
			t.Fatalf("%+v, %v", line, err)
		}
	}
}

// late is a store whose readers lag behind, like a read replica.
type late struct{ registry.Store }

func (l late) Read(ctx context.Context, f func(registry.Tx) error) error {
	return l.Store.Read(ctx, func(tx registry.Tx) error { return f(lateTx{tx}) })
}

type lateTx struct{ registry.Tx }

func (l lateTx) Document(table registry.Table, key string) ([]byte, error) {
	if table == registry.TableJobs {
		return nil, nil
	}
	return l.Tx.Document(table, key)
}

// An accepted job runs, even if a read replica does not know it yet.
func TestLateReader(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	j, _ := newJobs(late{store}, dir, io.Discard)
	job := accept(t, j, root, "", `{"name":"urn:x:a","targets":["https://example.org/"]}`+"\n")
	running(t, j)
	known, _ := newJobs(store, dir, io.Discard)
	await(t, known, job.ID, jobs.Done)
}

// The reason of a rejection is bounded, whatever the line contains.
func TestLongReason(t *testing.T) {
	dir := t.TempDir()
	j, _ := newJobs(openStore(t, dir), dir, io.Discard)
	job := accept(t, j, root, "", `{"name":"urn:x:a","targets":["`+strings.Repeat("javascript:", 20_000)+`"]}`+"\n")
	running(t, j)
	if of := await(t, j, job.ID, jobs.Done); len(of.Rejections) != 1 || len(of.Rejections[0].Reason) > 600 {
		t.Errorf("there are %d rejections, the first of %d bytes", len(of.Rejections), len(fmt.Sprint(of.Rejections)))
	}
}
