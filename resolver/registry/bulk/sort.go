package bulk

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
)

// A record of the sort is a line: the lengths of its key and of the line in 4 octets each, and both.
// The key has the order: the kind, prefixes first, the name, the version and the number of the
// line.
const (
	recordHead  = 8
	keyTail     = 8 // the number of the line
	versionSize = 4 // before it
)

// appendKey appends what lines of one version of a name have in common.
func appendKey(b []byte, l *line) []byte {
	b = append(b, 1-byte(l.entry.Kind))
	b = append(b, l.entry.Name...)
	b = append(b, 0)                                                 // names have no NUL
	return binary.BigEndian.AppendUint32(b, uint32(l.entry.Version)) //nolint:gosec // it is not negative
}

// chunk is what is sorted in memory.
type chunk struct {
	octets []byte
	refs   []ref
}

// ref is where a record of a chunk is.
type ref struct {
	begin uint64 // the octets of its key after those that all have in common
	at    uint32
}

func (c *chunk) key(r ref) []byte {
	n := binary.LittleEndian.Uint32(c.octets[r.at:])
	return c.octets[r.at+recordHead:][:n]
}

func (c *chunk) record(r ref) []byte {
	key, rest := binary.LittleEndian.Uint32(c.octets[r.at:]), binary.LittleEndian.Uint32(c.octets[r.at+4:])
	return c.octets[r.at:][:recordHead+key+rest]
}

// sort sorts the records by their keys, if they are not sorted.
func (c *chunk) sort() {
	if sort.SliceIsSorted(c.refs, func(i, j int) bool { return bytes.Compare(c.key(c.refs[i]), c.key(c.refs[j])) < 0 }) {
		return
	}
	common := c.key(c.refs[0])
	for _, r := range c.refs {
		key := c.key(r)
		for !bytes.HasPrefix(key, common) {
			common = common[:len(common)-1]
		}
	}
	for i, r := range c.refs {
		var begin [8]byte
		copy(begin[:], c.key(r)[len(common):])
		c.refs[i].begin = binary.BigEndian.Uint64(begin[:])
	}
	slices.SortFunc(c.refs, func(a, b ref) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return bytes.Compare(c.key(a), c.key(b))
	})
}

const (
	// chunkSize is what is sorted in memory, in octets; there are two.
	chunkSize = 24 << 20
	// maxRuns bounds the runs that are merged at once.
	maxRuns = 128
	// runBuffer is what is read of a run at once.
	runBuffer = 64 << 10
)

// section is a run in a file.
type section struct{ at, size int64 }

// sorter sorts records: it writes sorted runs into a file, and merges them. It is not safe for
// concurrent use.
type sorter struct {
	dir     string
	size    int
	chunk   *chunk
	spare   chan *chunk // the chunk that is not being filled, when it is written
	fault   error       // of writing it
	file    *os.File    // nil while all is in memory
	w       *bufio.Writer
	runs    []section
	end     int64
	last    []byte // the last key
	ordered bool   // the runs are in order, one after another
}

func newSorter(dir string, size int) *sorter {
	s := &sorter{dir: dir, size: size, chunk: new(chunk), spare: make(chan *chunk, 1), ordered: true}
	s.spare <- new(chunk)
	return s
}

// tempFile returns a file without a name, so that it vanishes with the process.
func tempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "urnd-import-*")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file to sort the input: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlinking a temporary file: %w", err), f.Close())
	}
	return f, nil
}

// add adds records.
func (s *sorter) add(records []byte) error {
	for len(records) > 0 {
		n := recordHead + int(binary.LittleEndian.Uint32(records)) + int(binary.LittleEndian.Uint32(records[4:]))
		if len(s.chunk.octets)+n > s.size && len(s.chunk.refs) > 0 {
			if err := s.spill(); err != nil {
				return err
			}
		}
		if s.chunk.octets == nil {
			s.chunk.octets = make([]byte, 0, s.size)
		}
		s.chunk.refs = append(s.chunk.refs, ref{at: uint32(len(s.chunk.octets))}) //nolint:gosec // chunks are small
		s.chunk.octets = append(s.chunk.octets, records[:n]...)
		records = records[n:]
	}
	return nil
}

// spill begins to write the chunk as a run, and continues with the other one.
func (s *sorter) spill() error {
	full := s.chunk
	s.chunk = <-s.spare // the one before is written then
	if s.fault != nil {
		s.spare <- full
		return s.fault
	}
	if s.file == nil {
		f, err := tempFile(s.dir)
		if err != nil {
			s.spare <- full
			return err
		}
		s.file, s.w = f, bufio.NewWriterSize(f, 256<<10)
	}
	go func() {
		s.fault = s.write(full)
		full.octets, full.refs = full.octets[:0], full.refs[:0]
		s.spare <- full
	}()
	return nil
}

// write writes a chunk as a run.
func (s *sorter) write(c *chunk) error {
	c.sort()
	if bytes.Compare(s.last, c.key(c.refs[0])) > 0 {
		s.ordered = false
	}
	s.last = append(s.last[:0], c.key(c.refs[len(c.refs)-1])...)
	run := section{at: s.end}
	for _, r := range c.refs {
		n, err := s.w.Write(c.record(r))
		run.size += int64(n)
		if err != nil {
			return fmt.Errorf("sorting the input: %w", err)
		}
	}
	s.end += run.size
	s.runs = append(s.runs, run)
	return nil
}

// merged returns all records in their order. No more are added.
func (s *sorter) merged() (*merge, error) {
	other := <-s.spare
	s.spare <- other
	if s.fault != nil {
		return nil, s.fault
	}
	if s.file == nil {
		if len(s.chunk.refs) > 0 {
			s.chunk.sort()
		}
		return newMerge([]source{&memory{chunk: s.chunk}})
	}
	if len(s.chunk.refs) > 0 {
		if err := s.write(s.chunk); err != nil {
			return nil, err
		}
	}
	*s.chunk, *other = chunk{}, chunk{}
	if err := s.w.Flush(); err != nil {
		return nil, fmt.Errorf("sorting the input: %w", err)
	}
	s.w = nil
	if s.ordered {
		s.runs = []section{{0, s.end}}
	}
	for len(s.runs) > maxRuns {
		if err := s.reduce(); err != nil {
			return nil, err
		}
	}
	return s.merge(s.runs)
}

// merge merges runs of the file.
func (s *sorter) merge(runs []section) (*merge, error) {
	var all []source
	for _, r := range runs {
		all = append(all, &stored{r: bufio.NewReaderSize(io.NewSectionReader(s.file, r.at, r.size), runBuffer)})
	}
	return newMerge(all)
}

// reduce makes one run of each maxRuns.
func (s *sorter) reduce() error {
	f, err := tempFile(s.dir)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	var longer []section
	var end int64
	for runs := range slices.Chunk(s.runs, maxRuns) {
		size, err := s.copyMerged(w, runs)
		if err != nil {
			return errors.Join(err, f.Close())
		}
		longer = append(longer, section{end, size})
		end += size
	}
	if err := w.Flush(); err != nil {
		return errors.Join(fmt.Errorf("sorting the input: %w", err), f.Close())
	}
	err = s.file.Close()
	s.file, s.runs = f, longer
	return err
}

// copyMerged writes what runs have, in order.
func (s *sorter) copyMerged(w io.Writer, runs []section) (size int64, err error) {
	m, err := s.merge(runs)
	if err != nil {
		return 0, err
	}
	for {
		record, err := m.next()
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		n, err := w.Write(record)
		size += int64(n)
		if err != nil {
			return size, fmt.Errorf("sorting the input: %w", err)
		}
	}
}

// close removes what was stored.
func (s *sorter) close() {
	<-s.spare
	if s.file != nil {
		_ = s.file.Close() // its content is not needed any more
	}
}
