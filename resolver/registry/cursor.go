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

// A cursor is an opaque position in the history, at which a paged list of changes continues; in a list of names
// it stands for the name whose version has that position. It contains a Seq and a part of the digest of its
// commit, which detects that the store was restored, or has lost its last transactions, since the cursor was
// issued.

var (
	// ErrInvalidCursor means that a text is not a cursor.
	ErrInvalidCursor = errors.New("invalid cursor for this list")
	// ErrForeignCursor means that a cursor belongs to another history than that of the store.
	ErrForeignCursor = errors.New("cursor of another registry, or of one before a restore: restart without the cursor")
)

// cursorDigest is the length of the partial digest in a cursor, in bytes.
const cursorDigest = 8

// CursorAt returns the cursor behind a Seq of the history; 0 is the beginning. The error is ErrUnknown if the
// Seq does not exist.
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

// CursorSeq returns the Seq of a cursor, 0 for "". The error is ErrInvalidCursor for an invalid text, and
// ErrForeignCursor for a cursor of another history.
func (r *Registry) CursorSeq(ctx context.Context, cursor string) (after Seq, err error) {
	if cursor == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	number, digest, _ := strings.Cut(string(text), " ")
	seq, err2 := strconv.ParseInt(number, 10, 64)
	if err != nil || err2 != nil || seq < 0 || (seq == 0) != (digest == "") {
		return 0, fmt.Errorf("%w: %.100q", ErrInvalidCursor, cursor)
	}
	if seq == 0 {
		return 0, nil
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		commit, err := commitOf(tx, Seq(seq))
		if errors.Is(err, ErrUnknown) || err == nil && hex.EncodeToString(commit.Digest[:cursorDigest]) != digest {
			err = ErrForeignCursor
		}
		return err
	})
	return Seq(seq), err
}

// CursorAtName returns the cursor behind a name, for lists of names; ErrUnknown if the name is not registered.
func (r *Registry) CursorAtName(ctx context.Context, name string) (string, error) {
	e, err := r.Get(ctx, Name(name))
	if err != nil {
		return "", err
	}
	return r.CursorAt(ctx, e.Seq)
}

// CursorName returns the name of a cursor, "" for "". The error is ErrInvalidCursor for an invalid text, and
// ErrForeignCursor for a cursor of another history, or of a name that was purged meanwhile.
func (r *Registry) CursorName(ctx context.Context, cursor string) (name string, err error) {
	seq, err := r.CursorSeq(ctx, cursor)
	if err != nil || seq == 0 {
		return "", err
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		changes, err := tx.Changes(seq-1, 1)
		if err == nil && (len(changes) == 0 || changes[0].Seq != seq || changes[0].Key.Kind != KindName) {
			err = ErrForeignCursor
		}
		if err == nil {
			name = changes[0].Key.Name
		}
		return err
	})
	return name, err
}
