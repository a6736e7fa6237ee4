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

// Conflict is a line that was rejected since somebody else has changed the name meanwhile, or since it does not say from which version it was made.
type Conflict struct {
	Line    int64
	Name    string
	Prefix  bool            `json:",omitempty"` // it is a prefix
	Version int             // that is registered
	From    int             `json:",omitempty"` // that the line was made from; 0 where it does not say
	Record  registry.Record // that the line would make
}

// Key returns what it is about.
func (c *Conflict) Key() registry.Key {
	if c.Prefix {
		return registry.Prefix(c.Name)
	}
	return registry.Name(c.Name)
}

// maxConflicts bounds the bytes of the conflicts of a job. Others are rejected lines alone.
const maxConflicts = 32 << 20

// conflicts are those of a job, in a file, which is made with the first one.
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
	text, err := json.Marshal(Conflict{line, of.Key.Name, of.Key.Kind == registry.KindPrefix, of.Version, of.From, of.Record})
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(c.to, "%s\n", text)
	c.bytes += int64(n)
	return err
}

// open opens the file. Where the job goes on, its last line may be half written: a line end makes it one of its own.
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

func (c *conflicts) close() error {
	if c.file == nil {
		return nil
	}
	return errors.Join(c.to.Flush(), c.file.Close())
}

// Conflicts returns at most n conflicts of a job after the first ones, in the order of their lines as the import has met them, and whether there
// are more. There is none where the files are with another instance, or were removed.
func (j *Jobs) Conflicts(ctx context.Context, actor registry.Actor, id string, after, n int) (page []Conflict, more bool, err error) {
	of, err := j.readable(ctx, actor, id)
	if err != nil {
		return nil, false, err
	}
	f, err := os.Open(j.path(of.body(), clashesFile))
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
		if json.Unmarshal(text, &c) != nil { // half written before the job went on
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
