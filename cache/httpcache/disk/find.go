package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// tries is how often reading a file is attempted: Replace may have renamed it and overwritten the trailer in
// between.
const tries = 4

// find calls use with the current file name of an object until it succeeds. An unusable file is removed.
func (s *Store) find(r ref, use func(n name) error) error {
	var n name
	var err error
	for range tries {
		e, ok := s.index.shard(r.digest).current(r)
		if !ok {
			return ErrGone
		}
		n = e.name
		if err = use(n); err == nil {
			return nil
		}
	}
	return s.discardIfLost(n, err)
}

// discardIfLost removes a file if err means that it is unusable, and returns the error.
func (s *Store) discardIfLost(n name, err error) error {
	switch {
	case errors.Is(err, ErrCorrupt):
		s.corrupt.Add(1)
		s.failures.report("verifying a file", fmt.Errorf("%s: %w", n.path(), err))
		_ = s.discard(n) // it reports its error
	case errors.Is(err, fs.ErrNotExist): // another process has removed it
		_ = s.discard(n) // it reports its error
		err = ErrGone
	default:
		s.failures.report("reading a file", err)
	}
	return err
}

// openToChange opens the file of an object for writing, and reads its trailer.
func (s *Store) openToChange(r ref) (opened *file, t trailer, err error) {
	err = s.find(r, func(n name) error {
		file, err := s.files.open(n.path(), os.O_RDWR)
		if err != nil {
			return err
		}
		if t, err = s.readTrailer(file, n); err != nil {
			return errors.Join(err, file.Close())
		}
		opened = file
		return nil
	})
	return opened, t, err
}

// openBody opens the file of an object to read its body.
func (s *Store) openBody(r ref) (opened *file, err error) {
	err = s.find(r, func(n name) (err error) {
		opened, err = s.files.open(n.path(), os.O_RDONLY)
		return err
	})
	return opened, err
}

func (s *Store) readObject(n name, most int64) (t trailer, body []byte, err error) {
	file, err := s.files.open(n.path(), os.O_RDONLY)
	if err != nil {
		return trailer{}, nil, err
	}
	if n.length <= most+usualTrailer {
		t, body, err = s.readWhole(file, n, most)
	} else {
		t, err = s.readTrailer(file, n)
	}
	return t, body, errors.Join(err, file.Close())
}

// usualTrailer is how many bytes at the end of a file are read first; most heads fit.
const usualTrailer = 2 << 10

func (s *Store) readTrailer(file *file, n name) (trailer, error) {
	if err := s.files.check("read"); err != nil {
		return trailer{}, err
	}
	b := make([]byte, min(n.length, usualTrailer))
	if err := readAt(file, b, n.length-int64(len(b))); err != nil {
		return trailer{}, err
	}
	need, err := trailerSize(b[len(b)-footerSize:])
	if err != nil {
		return trailer{}, err
	}
	if need > int64(len(b)) && need <= n.length {
		b = make([]byte, need)
		if err := readAt(file, b, n.length-need); err != nil {
			return trailer{}, err
		}
	}
	return trailerOf(b, n)
}

// trailerOf parses the trailer at the end of b, the bytes read from a file.
func trailerOf(b []byte, n name) (trailer, error) {
	need, err := trailerSize(b[len(b)-footerSize:])
	if err != nil {
		return trailer{}, err
	}
	if need > int64(len(b)) {
		return trailer{}, fmt.Errorf("%w: %d bytes are too few for a trailer of %d", ErrCorrupt, n.length, need)
	}
	t, err := parseTrailer(b[int64(len(b))-need:], n.length)
	if err == nil && digestOf(t.key) != n.digest {
		err = fmt.Errorf("%w: file name of another key", ErrCorrupt)
	}
	return t, err
}

// readWhole reads a file with one call, and verifies a body of at most most bytes; a longer body is returned as
// nil.
func (s *Store) readWhole(file *file, n name, most int64) (t trailer, body []byte, err error) {
	if err := s.files.check("read"); err != nil {
		return trailer{}, nil, err
	}
	b := make([]byte, n.length)
	if err := readAt(file, b, 0); err != nil {
		return trailer{}, nil, err
	}
	if t, err = trailerOf(b, n); err != nil {
		return trailer{}, nil, err
	}
	if t.body > most {
		t.head = bytes.Clone(t.head)
		return t, nil, nil
	}
	if err := verifyBody(b, t); err != nil {
		return trailer{}, nil, err
	}
	body = b[:t.body:t.body]
	if others := n.length - t.body - int64(len(t.head)); others > n.length/8 { // they would be retained
		body, t.head = bytes.Clone(body), bytes.Clone(t.head)
	}
	return t, body, nil
}

// verifyBody verifies the body of a file that is in b.
func verifyBody(b []byte, t trailer) error {
	sums := b[t.body:t.contentSize()]
	if crc32.Checksum(sums, castagnoli()) != t.sumOfSums {
		return fmt.Errorf("%w: checksum mismatch of the checksums", ErrCorrupt)
	}
	for i := range slicesOf(t.body) {
		slice := b[i*sliceSize : min((i+1)*sliceSize, t.body)]
		if crc32.Checksum(slice, castagnoli()) != binary.LittleEndian.Uint32(sums[i*sumSize:]) {
			return fmt.Errorf("%w: checksum mismatch in slice %d", ErrCorrupt, i)
		}
	}
	return nil
}
