package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

func tokenColumns() []string {
	return []string{
		"id", "name", "role", "prefixes", "actions", "note", "created", "made_by", "expires", "used",
		"hash", "root",
	}
}

// tokensWhere returns the tokens that the end of a statement selects.
func (t *transaction) tokensWhere(end string, args ...any) (found []registry.StoredToken, err error) {
	err = t.conn.Query("SELECT "+strings.Join(tokenColumns(), ", ")+" FROM token "+end, func(row Row) error {
		s := registry.StoredToken{Token: registry.Token{
			ID: row.Text(0), Name: row.Text(1), Note: row.Text(5), Created: toTime(row.Int(6)), By: row.Text(7),
			Expires: optionalTimeOf(row, 8),
			Used:    row.Text(9),
		}, Hash: append([]byte(nil), row.Bytes(10)...), Root: row.Text(11)}
		err := s.Role.UnmarshalText([]byte(row.Text(2)))
		if err == nil && !row.Null(3) {
			err = json.Unmarshal([]byte(row.Text(3)), &s.Prefixes)
		}
		if err == nil && !row.Null(4) {
			err = json.Unmarshal([]byte(row.Text(4)), &s.Actions)
		}
		if err != nil {
			s.Damaged = fmt.Errorf("%w: token %s: %w", registry.ErrDamaged, s.ID, err)
		}
		found = append(found, s)
		return nil
	}, args...)
	return found, err
}

// Tokens implements registry.Tx.
func (t *transaction) Tokens() ([]registry.StoredToken, error) { return t.tokensWhere("ORDER BY id") }

// Token implements registry.Tx.
func (t *transaction) Token(id string) (registry.StoredToken, error) {
	if registry.CheckKey(id) != nil {
		return registry.StoredToken{}, nil //nolint:nilerr // such a key cannot exist
	}
	found, err := t.tokensWhere("WHERE id = $1", id)
	if err != nil || len(found) == 0 {
		return registry.StoredToken{}, err
	}
	return found[0], nil
}

// AddToken implements registry.WriteTx.
func (t *transaction) AddToken(s registry.StoredToken) error {
	return t.conn.Insert("token", tokenColumns(), "", 1, func(_ int, v Values) {
		v.Text(s.ID)
		v.Text(s.Name)
		v.Text(s.Role.String())
		optionalList(v, s.Prefixes)
		optionalList(v, s.Actions)
		optionalText(v, s.Note)
		v.Int(s.Created.UnixMilli())
		v.Text(s.By)
		optionalTime(v, s.Expires)
		optionalText(v, s.Used)
		v.Bytes(s.Hash)
		optionalText(v, s.Root)
	})
}

// optionalList adds texts as a JSON array, NULL for none.
func optionalList[T ~string](v Values, texts []T) {
	if len(texts) == 0 {
		v.Null()
		return
	}
	text, _ := json.Marshal(texts) // strings never fail to marshal
	v.Text(string(text))
}

// RemoveToken implements registry.WriteTx.
func (t *transaction) RemoveToken(id string) error {
	return t.conn.Exec("DELETE FROM token WHERE id = $1", id)
}

// SetTokenUsed implements registry.WriteTx.
func (t *transaction) SetTokenUsed(id, day string) error {
	return t.conn.Exec("UPDATE token SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)", id, day)
}
