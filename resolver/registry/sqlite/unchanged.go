package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// OpenUnchanged opens the store in a file, also of an older schema, to look at its names and to make a backup that the program which
// wrote it reads: nothing is changed in it. It may be in use. Its errors are those of Open.
func OpenUnchanged(ctx context.Context, path string) (*Store, error) {
	if err := MustExist(path); err != nil {
		return nil, err
	}
	s := newStore(path)
	err := s.transactions.with(ctx, func(c *conn) error {
		err := c.checkSchema()
		if errors.Is(err, errOlder) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, faultOf(path, errors.Join(err, s.Close()))
	}
	return s, nil
}

// isWritten returns an error where nothing is written to a store.
func (s *Store) isWritten() error {
	if s.writer == nil {
		return fmt.Errorf("%w was opened to be read", about(s.path, registry.ErrNoStore, ""))
	}
	return nil
}
