//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// feature is an additional configuration of a forward proxy, in a separate server, so that it does not affect
// other rows.
type feature string

const (
	none    feature = ""
	hosts   feature = "list"    // a million hosts of a file are denied
	logins  feature = "logins"  // users log in, and a program verifies their passwords
	parents feature = "parents" // requests are forwarded to the first of two other proxies, or to the second
)

const (
	// listedHosts is the number of hosts in a list.
	listedHosts = 1_000_000
	// wantedHost is in no list. It does not exist: proxies with a feature forward requests for it to another
	// proxy, the origin.
	wantedHost = "www.wanted.example"
	// laterHost is in a list after that was replaced.
	laterHost = "www.later.example"
)

// having returns the peer with a feature.
func (p peer) having(f feature) peer {
	p.with = f
	return p
}

// startedServer is a server, or the error of its start.
type startedServer struct {
	server *server
	err    error
}

// having returns the column's server with a feature, which is started once.
func (c *column) having(ctx context.Context, ends *network, f feature) (*server, error) {
	if f == none {
		return c.server, nil
	}
	started, ok := c.featured[f]
	if !ok {
		started.server, started.err = startPeer(ctx, ends, c.server.peer.having(f), c.processors)
		c.featured[f] = started
	}
	return started.server, started.err
}

// stop stops all servers of a column.
func (c *column) stop() (err error) {
	if c.server != nil {
		err = c.server.stop()
	}
	for _, started := range c.featured {
		if started.server != nil {
			err = errors.Join(err, started.server.stop())
		}
	}
	return err
}

// login returns the header field of the n-th user; each has a different password.
func login(n uint64) string {
	pair := fmt.Sprintf("user%d:secret%d", n, n)
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) + "\r\n"
}

// listFile is the name of the list of hosts in the folder of a server.
func listFile(dir string) string { return filepath.Join(dir, "hosts.txt") }

// writeHosts writes a list of listedHosts hosts including their subdomains, in the format of Squid and urnd,
// and others after them. It is always identical: names as in published lists, of made-up words under a few
// top-level domains, some with host names, in random order. None is below another one.
func writeHosts(name string, others ...string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // for servers that drop root
	if err != nil {
		return fmt.Errorf("writing a list: %w", err)
	}
	out := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // identical in each run
	for i := range listedHosts {
		_, _ = out.WriteString(listedHost(random, i) + "\n") // Flush returns the error
	}
	for _, host := range others {
		_, _ = out.WriteString("." + host + "\n") // as above
	}
	return errors.Join(out.Flush(), f.Close())
}

// listedHost returns the line of the i-th host.
func listedHost(random *rand.Rand, i int) string {
	const (
		step       = 618_033 // coprime to listedHosts: the numbers are distinct and in pseudorandom order
		consonants = "bcdfghklmnprstvwz"
		vowels     = "aeiou"
	)
	tops := []string{"com", "com", "com", "com", "net", "net", "org", "info", "xyz", "top", "ru", "de", "co.uk"}
	machines := []string{"ads.", "track.", "static.", "stats.", "www.", "cdn."}
	line := []byte{'.'}
	if random.IntN(5) < 2 {
		line = append(line, machines[random.IntN(len(machines))]...)
	}
	for range 1 + random.IntN(4) {
		line = append(line, consonants[random.IntN(len(consonants))], vowels[random.IntN(len(vowels))])
	}
	line = strconv.AppendInt(line, int64(i*step%listedHosts), 36)
	line = append(line, '.')
	return string(append(line, tops[random.IntN(len(tops))]...))
}
