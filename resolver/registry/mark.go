package registry

import (
	"context"
	"fmt"
	"time"
)

// Mark is what was last done with a store as a whole.
type Mark string

// The marks.
const (
	MarkBackup Mark = "backup" // by urnd registry backup
	MarkVerify Mark = "verify" // and no problem was found
)

// SetMark records that something was done now.
func (r *Registry) SetMark(ctx context.Context, mark Mark) error {
	value, err := r.Now().UTC().MarshalText()
	if err == nil {
		err = r.Store().Write(ctx, func(tx WriteTx) error { return tx.Put(TableMarks, []Document{{Key: string(mark), Value: value}}) })
	}
	if err != nil {
		return fmt.Errorf("recording the %s: %w", mark, err)
	}
	return nil
}

// Marked returns when something was done last; the zero value if it was not.
func Marked(tx Tx, mark Mark) (at time.Time, err error) {
	value, err := tx.Document(TableMarks, string(mark))
	if err == nil && value != nil {
		if err = at.UnmarshalText(value); err != nil {
			err = fmt.Errorf("%w: the time of the last %s: %w", ErrDamaged, mark, err)
		}
	}
	return at, err
}
