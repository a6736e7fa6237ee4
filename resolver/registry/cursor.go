package registry

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A cursor is a place in the history, behind which a list of changes goes on; in lists of names it stands for the name whose version is there. It has a Seq, and of the commit there a part of its digest, by
// which a store is noticed that was restored since, or has lost its last transactions.

var (
	// ErrCursor means that a text is no cursor.
	ErrCursor = errors.New("the cursor is none that a page of this list has named")
	// ErrHistory means that a cursor is of another history than that of the store.
	ErrHistory = errors.New("the registry was restored since, or is another one: begin anew, without the cursor")
)

// cursorDigest is how much of a digest is in a cursor, in bytes.
const cursorDigest = 8

// CursorAt returns the cursor behind a Seq of the history; 0 is its beginning. A Seq that there is not is ErrUnknown.
func (r *Registry) CursorAt(ctx context.Context, seq Seq) (cursor string, err error) {
	text := "0"
	if seq > 0 {
		err = r.config.Store.Read(ctx, func(tx Tx) error {
			commit, err := commitOf(tx, seq)
			text = strconv.FormatInt(int64(seq), 10) + " " + hex.EncodeToString(commit.Digest[:cursorDigest])
			return err
		})
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text)), err
}

// AfterCursor returns the Seq of a cursor, 0 for "". It is ErrCursor for what is none, and ErrHistory for that of another history.
func (r *Registry) AfterCursor(ctx context.Context, cursor string) (after Seq, err error) {
	if cursor == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	number, digest, _ := strings.Cut(string(text), " ")
	seq, err2 := strconv.ParseInt(number, 10, 64)
	if err != nil || err2 != nil || seq < 0 || (seq == 0) != (digest == "") {
		return 0, fmt.Errorf("%w: %.100q", ErrCursor, cursor)
	}
	if seq == 0 {
		return 0, nil
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		commit, err := commitOf(tx, Seq(seq))
		if errors.Is(err, ErrUnknown) || err == nil && hex.EncodeToString(commit.Digest[:cursorDigest]) != digest {
			err = ErrHistory
		}
		return err
	})
	return Seq(seq), err
}

// CursorOf returns the cursor behind a name in lists of names; ErrUnknown where it is not registered.
func (r *Registry) CursorOf(ctx context.Context, name string) (string, error) {
	e, err := r.Get(ctx, Name(name))
	if err != nil {
		return "", err
	}
	return r.CursorAt(ctx, e.Seq)
}

// AfterName returns the name of a cursor, "" for "". It is ErrCursor for what is none, and ErrHistory for that of another history, or of a name
// that was purged since.
func (r *Registry) AfterName(ctx context.Context, cursor string) (name string, err error) {
	seq, err := r.AfterCursor(ctx, cursor)
	if err != nil || seq == 0 {
		return "", err
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		changes, err := tx.Changes(seq-1, 1)
		if err == nil && (len(changes) == 0 || changes[0].Seq != seq || changes[0].Key.Kind != KindName) {
			err = ErrHistory
		}
		if err == nil {
			name = changes[0].Key.Name
		}
		return err
	})
	return name, err
}
