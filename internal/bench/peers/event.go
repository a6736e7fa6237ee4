//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// event is an event in the life of a server that is measured once.
type event int

const (
	noEvent      event = iota
	started            // start of the server
	listReplaced       // its list gets an additional host during requests
	parentEnds         // its first parent ends during requests
	parentBack         // its first parent, which had ended, is restarted
	parentSilent       // its first parent accepts connections and requests, but does not respond
)

const (
	calm      = time.Second      // before the event
	afterward = 5 * time.Second  // time for which requests are observed
	unheard   = 15 * time.Second // the same for a silent parent
	awaited   = time.Minute      // limit for the server to react
)

// measureEvent starts a separate server, and describes the effect of the event as text.
func measureEvent(ctx context.Context, ends *network, p peer, processors int, r row) (cell, error) {
	var text string
	var err error
	switch r.event {
	case started:
		text, err = watchStart(ctx, ends, p, processors, r)
	case listReplaced:
		text, err = watchList(ctx, ends, p, processors, r)
	default:
		text, err = watchParents(ctx, ends, p, processors, r)
	}
	return cell{measured: err == nil, text: text}, err
}

// watchStart measures the time from the start of the process to its first response, and its memory some time
// later.
func watchStart(ctx context.Context, ends *network, p peer, processors int, r row) (text string, err error) {
	v, err := startRow(ctx, ends, p, processors, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	took := time.Since(v.started)
	if err := sleep(ctx, settled); err != nil {
		return "", err
	}
	size, err := resident(v.cmd.Process.Pid)
	return fmt.Sprintf("%s, %.0f MiB", seconds(took), float64(size)/mebibyte), err
}

// startRow starts a server with the feature of a row, and waits for a correct response.
func startRow(ctx context.Context, ends *network, p peer, processors int, r row) (*server, error) {
	v, err := startPeer(ctx, ends, p.having(r.with), processors)
	if err != nil {
		return nil, err
	}
	if _, err := probeUntil(ctx, ends, v, r); err != nil {
		return nil, errors.Join(err, v.stop())
	}
	return v, nil
}

// watchList replaces the list by one with an additional host.
func watchList(ctx context.Context, ends *network, p peer, processors int, r row) (text string, err error) {
	v, err := startRow(ctx, ends, p, processors, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	name := listFile(v.at.Dir)
	if err := writeHosts(name+".new", laterHost); err != nil {
		return "", err
	}
	_, target := r.place(v.at, 0)
	w := startWatch(ctx, v, target)
	defer w.stop()
	if err := sleep(ctx, calm); err != nil {
		return "", err
	}
	since := time.Now()
	if err := os.Rename(name+".new", name); err != nil {
		return "", err
	}
	if p.reload != nil {
		if err := v.cmd.Process.Signal(p.reload); err != nil {
			return "", fmt.Errorf("reload: %w", err)
		}
	}
	client := proxied(v)
	defer client.CloseIdleConnections()
	err = until(ctx, func() bool {
		return request(ctx, client, "http://"+laterHost+"/no-store/1").status == http.StatusForbidden
	})
	if err != nil {
		return "", fmt.Errorf("the new host is not denied: %w", err)
	}
	denied := time.Since(since)
	if err := sleep(ctx, afterward); err != nil {
		return "", err
	}
	return fmt.Sprintf("denied after %s; %v", seconds(denied), judge(w.stop(), since)), nil
}

// watchParents triggers an event of the first of two parents.
func watchParents(ctx context.Context, ends *network, p peer, processors int, r row) (text string, err error) {
	first, second, err := twoParents(ctx, ends.body)
	if err != nil {
		return "", err
	}
	defer first.close()
	defer second.close()
	before := ends.place
	ends.place.Parents = []string{first.place.Origin, second.place.Origin}
	defer func() { ends.place = before }()
	v, err := startRow(ctx, ends, p, processors, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	_, target := r.place(v.at, 0)
	w := startWatch(ctx, v, target)
	defer w.stop()
	if err := sleep(ctx, calm); err != nil {
		return "", err
	}
	if second.requests.Load() > 0 {
		return "", errors.New("the second parent is asked while the first one is there")
	}
	since := time.Now()
	if r.event == parentSilent {
		first.silent.Store(true)
		err = sleep(ctx, unheard)
		return judge(w.stop(), since).String(), err
	}
	first.close()
	if err := sleep(ctx, afterward); err != nil || r.event != parentBack {
		return judge(w.stop(), since).String(), err
	}
	since = time.Now()
	again, err := newParent(ctx, first.place.Origin, ends.body)
	if err != nil {
		return "", fmt.Errorf("starting the parent again: %w", err)
	}
	defer again.close()
	if err := until(ctx, func() bool { return again.requests.Load() > 0 }); err != nil {
		return "", fmt.Errorf("the parent that is back is not asked: %w", err)
	}
	used := time.Since(since)
	err = sleep(ctx, calm)
	return fmt.Sprintf("asked again after %s; %v", seconds(used), judge(w.stop(), since)), err
}

// until waits for a condition.
func until(ctx context.Context, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, awaited)
	defer cancel()
	for !so() {
		if err := sleep(ctx, 2*breath); err != nil {
			return err
		}
	}
	return nil
}

func twoParents(ctx context.Context, body []byte) (first, second *network, err error) {
	if first, err = newParent(ctx, "127.0.0.1:0", body); err != nil {
		return nil, nil, err
	}
	if second, err = newParent(ctx, "127.0.0.1:0", body); err != nil {
		first.close()
		return nil, nil, err
	}
	return first, second, nil
}
