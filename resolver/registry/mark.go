package registry

import (
	"context"
	"fmt"
	"time"
)

// Mark is an operation on the whole store, of which the store records the last time.
type Mark string

// The marks.
const (
	MarkBackup Mark = "backup" // urnd registry backup
	MarkVerify Mark = "verify" // verification without a problem
)

// SetMark records that an operation was done now.
func (r *Registry) SetMark(ctx context.Context, mark Mark) error {
	value, err := r.Now().UTC().MarshalText()
	if err == nil {
		err = r.Store().Write(ctx,
			func(tx WriteTx) error { return tx.Put(TableMarks, []Document{{Key: string(mark), Value: value}}) })
	}
	if err != nil {
		return fmt.Errorf("recording the %s: %w", mark, err)
	}
	return nil
}

// MarkTime returns the last time of an operation; the zero value if it was never done.
func MarkTime(tx Tx, mark Mark) (at time.Time, err error) {
	value, err := tx.Document(TableMarks, string(mark))
	if err == nil && value != nil {
		if err = at.UnmarshalText(value); err != nil {
			err = fmt.Errorf("%w: time of the last %s: %w", ErrDamaged, mark, err)
		}
	}
	return at, err
}
