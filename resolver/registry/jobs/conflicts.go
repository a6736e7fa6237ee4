package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Conflict is a line that was rejected because another user has changed the name since, or because it has no
// if_version.
type Conflict struct {
	Line    int64
	Name    string
	Prefix  bool            `json:",omitempty"` // it is a prefix
	Version int             // the registered version
	From    int             `json:",omitempty"` // the version that the line was made from; 0 if it has no if_version
	Record  registry.Record // the record that the line would write
}

// Key returns the key of the name or prefix.
func (c *Conflict) Key() registry.Key {
	if c.Prefix {
		return registry.Prefix(c.Name)
	}
	return registry.Name(c.Name)
}

// maxConflicts bounds the conflicts of a job, in bytes. Further ones are reported as rejected lines only.
const maxConflicts = 32 << 20

// conflicts writes the conflicts of a job to a file, which is created with the first one.
type conflicts struct {
	path  string
	file  *os.File
	to    *bufio.Writer
	bytes int64
}

func (c *conflicts) add(line int64, of *bulk.Conflict) error {
	if c.bytes > maxConflicts {
		return nil
	}
	if c.file == nil {
		if err := c.open(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(Conflict{
		line, of.Key.Name, of.Key.Kind == registry.KindPrefix, of.Version,
		of.From, of.Record,
	})
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(c.to, "%s\n", text)
	c.bytes += int64(n)
	return err
}

// open opens the file. The last line of an interrupted run may be incomplete: a line feed separates it from
// the next one.
func (c *conflicts) open() (err error) {
	const ownerOnly = 0o600
	if c.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, ownerOnly); err != nil {
		return err
	}
	c.to = bufio.NewWriter(c.file)
	info, err := c.file.Stat()
	if err == nil && info.Size() > 0 {
		c.bytes = info.Size()
		err = c.to.WriteByte('\n')
	}
	return err
}

func (c *conflicts) flush() error {
	if c.file == nil {
		return nil
	}
	return c.to.Flush()
}

func (c *conflicts) close() error {
	if c.file == nil {
		return nil
	}
	return errors.Join(c.to.Flush(), c.file.Close())
}

// Conflicts returns a page of at most n conflicts of a job, after the first ones, in the order in which the
// import found them. more reports whether there are further ones. It returns none if another instance has the
// file, or if it was removed.
func (j *Jobs) Conflicts(
	ctx context.Context, actor registry.Actor, id string, after, n int,
) (page []Conflict, more bool, err error) {
	of, err := j.readable(ctx, actor, id)
	if err != nil {
		return nil, false, err
	}
	f, err := os.Open(j.path(of.body(), conflictsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("opening the conflicts: %w", err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for at := 0; ; {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return page, false, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("reading the conflicts: %w", err)
		}
		var c Conflict
		if json.Unmarshal(text, &c) != nil { // an incomplete line of an interrupted run
			continue
		}
		if at++; at <= after {
			continue
		}
		if len(page) == n {
			return page, true, nil
		}
		page = append(page, c)
	}
}
