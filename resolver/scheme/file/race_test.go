package file_test

import (
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// TestRaces requires that replacing symbolic links during requests does not lead out of the root.
func TestRaces(t *testing.T) {
	dir := tree(t)
	pub := dir + "/pub"
	must(t, os.MkdirAll(dir+"/outside", 0o755))
	must(t, os.WriteFile(dir+"/outside/x", []byte("secret"), 0o644))
	stop, failed := make(chan struct{}), make(chan error, 1)
	var swapping sync.WaitGroup
	swapping.Go(func() { // pub/turn/x is alternately a file of the root and one outside
		for {
			for _, step := range []func() error{
				func() error { return os.Symlink("doc", pub+"/turn.new") },
				func() error { return os.Rename(pub+"/turn.new", pub+"/turn") },
				func() error { return os.Symlink(dir+"/outside", pub+"/turn.new") },
				func() error { return os.Rename(pub+"/turn.new", pub+"/turn") },
				func() error { return os.Symlink("../outside", pub+"/turn.new") },
				func() error { return os.Rename(pub+"/turn.new", pub+"/turn") },
				func() error { return os.Remove(pub + "/turn") },
				func() error { return os.Rename(pub+"/doc", pub+"/turn") },
				func() error { return os.Rename(pub+"/turn", pub+"/doc") },
			} {
				if err := step(); err != nil {
					failed <- err
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	h := handler(pub)
	inside := 0
	// On a busy machine the directory may stay unchanged for a while.
	for n := 0; n < 1000 || inside == 0 && n < 1_000_000; n++ {
		resource, err := get(t, h, "file://"+pub+"/turn/x")
		if err != nil {
			if statusOf(err) == 0 {
				t.Errorf("%v", err)
			}
			continue
		}
		body, err := io.ReadAll(resource.Body)
		resource.Body.Close()
		if string(body) == "secret" || err != nil {
			t.Fatalf("%q, %v", body, err)
		}
		inside++
	}
	for range 100 {
		if resource, err := get(t, h, "file://"+pub+"/turn/"); err == nil {
			for _, item := range resource.Listing.Items {
				if item.Name == "x" && item.Size != nil && *item.Size == int64(len("secret")) {
					t.Fatalf("the listing has an entry outside: %+v", item)
				}
			}
		}
	}
	close(stop)
	swapping.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	if inside == 0 {
		t.Error("no request has met the directory inside")
	}
}

// TestRacePipe requires that a pipe which replaces a file between the check and the open does not block.
func TestRacePipe(t *testing.T) {
	dir := tree(t)
	pub := dir + "/pub"
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	var failure error
	swapping.Go(func() {
		for failure == nil {
			for _, step := range [][2]string{{"a.txt", "turn"}, {"turn", "a.txt"}, {"pipe", "turn"}, {"turn", "pipe"}} {
				if err := os.Rename(pub+"/"+step[0], pub+"/"+step[1]); err != nil {
					failure = err
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	h := handler(pub)
	sent := 0
	for deadline := time.Now().Add(30 * time.Second); sent < 100 && time.Now().Before(deadline); {
		resource, err := get(t, h, "file://"+pub+"/turn")
		if err != nil {
			continue
		}
		body, err := io.ReadAll(resource.Body)
		resource.Body.Close()
		if string(body) != "0123456789" || err != nil {
			t.Fatalf("%q, %v", body, err)
		}
		sent++
	}
	close(stop)
	swapping.Wait()
	if failure != nil || sent == 0 {
		t.Errorf("%d, %v", sent, failure)
	}
}
