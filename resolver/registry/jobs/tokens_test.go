package jobs_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/token"
)

// upload returns a job without lines.
func upload(key string) jobs.Upload {
	return jobs.Upload{Format: bulk.CSV, Key: key, Body: strings.NewReader("")}
}

// actorOf returns the actor of a new token.
func actorOf(t *testing.T, r *registry.Registry, name string) registry.Actor {
	t.Helper()
	made, _, err := token.Create(t.Context(), r, root, token.Token{Name: name, Role: registry.Writer})
	if err != nil {
		t.Fatal(err)
	}
	return made.Actor()
}

// Whatever is uploaded with one token, shared resources remain for other tokens.
func TestTokensBesideTokens(t *testing.T) {
	for _, tt := range []struct {
		name string
		// attack uploads with the token as much as possible, and returns the final error.
		attack func(t *testing.T, j *jobs.Jobs, writer registry.Actor, dir string) error
		want   error
	}{
		{"places in the queue", func(t *testing.T, j *jobs.Jobs, writer registry.Actor, _ string) (err error) {
			t.Helper()
			n := 0
			for ; err == nil && n <= 100; n++ {
				_, _, err = j.Accept(t.Context(), writer, upload(""))
			}
			if n != 101 {
				t.Errorf("%d jobs, the last one %v", n, err)
			}
			return err
		}, jobs.ErrTokenLimit},
		{"disk of bodies", func(t *testing.T, j *jobs.Jobs, writer registry.Actor, _ string) (err error) {
			t.Helper()
			n := 0
			for ; err == nil && n < 10; n++ {
				_, _, err = j.Accept(t.Context(), writer,
					jobs.Upload{Format: bulk.CSV, Body: io.LimitReader(zeros{}, maxBody)})
			}
			if n != 3 {
				t.Errorf("body %d: %v, want the third to be refused", n, err)
			}
			return err
		}, jobs.ErrTokenLimit},
		{
			"disk of a body that is announced",
			func(t *testing.T, j *jobs.Jobs, writer registry.Actor, _ string) (err error) {
				t.Helper()
				for range 3 {
					u := jobs.Upload{Format: bulk.CSV, Body: io.LimitReader(zeros{}, maxBody), Size: maxBody}
					if _, _, err = j.Accept(t.Context(), writer, u); errors.Is(err, jobs.ErrTokenLimit) {
						if n, _ := io.Copy(io.Discard, u.Body); n != maxBody {
							t.Errorf("%d bytes of it were read", maxBody-n)
						}
					}
				}
				return err
			}, jobs.ErrTokenLimit,
		},
		{"reports, keys and their disk", func(t *testing.T, j *jobs.Jobs, writer registry.Actor, dir string) error {
			t.Helper()
			report := filepath.Join(dir, "jobs", writer.Token,
				strings.Repeat("1", len("20310501T120000-0123456789abcdef"))+".rejected")
			for i := range 600 {
				job, _, err := j.Accept(t.Context(), writer, upload(fmt.Sprint(i)))
				if err == nil {
					_, err = j.Cancel(t.Context(), root, job.ID)
				}
				if err == nil && i == 0 {
					err = os.WriteFile(report, make([]byte, maxBody), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if list, err := j.List(t.Context(), writer); err != nil || len(list) != 500 {
				t.Errorf("%d jobs are kept, %v", len(list), err)
			}
			if _, err := os.Stat(report); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its oldest report: %v", err)
			}
			return nil
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			j, r := newJobs(openStore(t, dir), dir, io.Discard)
			writer, other := actorOf(t, r, "w"), actorOf(t, r, "o")
			before := accept(t, j, other, "k", "{\n")
			of := accept(t, j, root, "k", "{\n")
			end := running(t, j)
			await(t, j, before.ID, jobs.Done)
			await(t, j, of.ID, jobs.Done)
			end()
			if err := tt.attack(t, j, writer, dir); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("%v, want %v", err, tt.want)
			}
			for _, one := range []struct {
				actor  registry.Actor
				before jobs.Job
			}{{other, before}, {root, of}} {
				same, isNew, err := j.Accept(t.Context(), one.actor,
					jobs.Upload{Format: bulk.NDJSON, Key: "k", Body: strings.NewReader("{\n")})
				if err != nil || isNew || same.ID != one.before.ID {
					t.Errorf("%s: its idempotency key: %s, %v", one.actor.Name, same.ID, err)
				}
				report, err := j.Rejected(t.Context(), one.actor, one.before.ID)
				if err != nil {
					t.Errorf("%s: its report: %v", one.actor.Name, err)
				} else if text, _ := io.ReadAll(report); len(text) == 0 || report.Close() != nil {
					t.Errorf("%s: its report is empty", one.actor.Name)
				}
				if _, _, err := j.Accept(t.Context(), one.actor,
					jobs.Upload{Format: bulk.CSV, Body: io.LimitReader(zeros{}, maxBody)}); err != nil {
					t.Errorf("%s: one more job: %v", one.actor.Name, err)
				}
			}
		})
	}
}

// Tokens take turns, in whatever order jobs were uploaded.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	j, r := newJobs(openStore(t, dir), dir, io.Discard)
	other, third := actorOf(t, r, "o"), actorOf(t, r, "t")
	var last jobs.Job
	for i, by := range []registry.Actor{other, other, other, other, root, third, root} {
		u := jobs.Upload{
			Format: bulk.NDJSON, Overwrite: true,
			Body: strings.NewReader(fmt.Sprintf(`{"name":"urn:x:a","targets":["https://%s.example/%d"]}`, by.Name, i)),
		}
		job, _, err := j.Accept(t.Context(), by, u)
		if err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			last = job
		}
	}
	end := running(t, j)
	await(t, j, last.ID, jobs.Done)
	end()
	check := func(n int, want string) {
		t.Helper()
		history, err := r.History(t.Context(), registry.Name("urn:x:a"), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, e := range slices.Backward(history[:n]) {
			order = append(order, strings.TrimSuffix(strings.TrimPrefix(e.Targets[0].URI, "https://"), "/"))
		}
		if got := strings.Join(order, " "); got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	}
	check(7, "o.example/0 root.example/4 t.example/5 o.example/1 root.example/6 o.example/2 o.example/3")
	// A token without earlier jobs does not run all of its jobs before others.
	for i, by := range []registry.Actor{third, third, other} {
		u := jobs.Upload{
			Format: bulk.NDJSON, Overwrite: true,
			Body: strings.NewReader(fmt.Sprintf(`{"name":"urn:x:a","targets":["https://%s.example/%d"]}`, by.Name,
				7+i)),
		}
		var err error
		if last, _, err = j.Accept(t.Context(), by, u); err != nil {
			t.Fatal(err)
		}
	}
	running(t, j)
	await(t, j, last.ID, jobs.Done)
	check(3, "t.example/7 t.example/8 o.example/9")
}

// Jobs that ended a month ago are removed, with their reports and idempotency keys, even if nothing else is
// uploaded with their tokens.
func TestOldJobs(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	now := time.Now()
	same := func(text string) (string, error) { return text, nil }
	r := registry.New(registry.Config{
		Store: store, Canonical: same, CanonicalPrefix: same,
		Now: func() time.Time { return now },
	})
	j := jobs.New(jobs.Config{
		Registry: r, Directory: filepath.Join(dir, "jobs"), MaxBody: maxBody,
		Log: slog.New(slog.DiscardHandler),
	})
	old := accept(t, j, writer, "k", "{}\n")
	if _, err := j.Cancel(t.Context(), writer, old.ID); err != nil {
		t.Fatal(err)
	}
	positions := func() (all []registry.Document) {
		if err := store.Read(t.Context(), func(tx registry.Tx) (err error) {
			all, err = tx.Documents(registry.TableImports, "", "", 10)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.Put(registry.TableImports, []registry.Document{{Key: "job " + old.ID, Value: []byte("{}")}})
	}); err != nil { // as if it had been cancelled between two transactions
		t.Fatal(err)
	}
	now = now.Add(30*24*time.Hour - time.Second)
	accept(t, j, other, "", "{}\n")
	if _, err := j.Get(t.Context(), writer, old.ID); err != nil {
		t.Errorf("before a month is over: %v", err)
	}
	now = now.Add(time.Second)
	accept(t, j, other, "", "{}\n")
	if _, err := j.Get(t.Context(), writer, old.ID); !errors.Is(err, registry.ErrUnknownJob) {
		t.Errorf("after a month: %v", err)
	}
	if again := accept(t, j, writer, "k", "{}\n"); again.ID == old.ID {
		t.Error("its key is kept")
	}
	if all := positions(); len(all) > 0 {
		t.Errorf("the position of its import is kept: %s", all)
	}
}
