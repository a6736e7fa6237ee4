package registry

import "time"

// Token lets a client read or change entries by the API. Its secret is shown once, and
// is not stored: a hash of it is.
type Token struct {
	ID       string   `json:"id"` // it is no secret
	Name     string   `json:"name"`
	Role     Role     `json:"role"`
	Prefixes []string `json:"prefixes,omitempty"` // what names begin with that it is for; nil is all
	// Actions are what it is for, of what its role may do; nil is all.
	Actions []Action  `json:"actions,omitempty"`
	Note    string    `json:"note,omitempty"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	Expires time.Time `json:"expires,omitzero"` // it is not valid then any more; the zero value is never
	Used    string    `json:"used,omitempty"`   // the day of its last use, "2031-05-01"
}

// Actor returns who uses the token.
func (t Token) Actor() Actor {
	return Actor{Name: t.Name, Role: t.Role, Prefixes: t.Prefixes, Actions: t.Actions, Token: t.ID}
}

// ValidAt reports whether the token has not expired at a time.
func (t Token) ValidAt(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// StoredToken is a Token as it is stored.
type StoredToken struct {
	Token
	Hash []byte `json:"hash"` // SHA-256 of the secret, which has 256 random bits: nobody can try them all
	// Root is the ID of the token from which it descends: the first one that was made by another token, which an administrator
	// has made. "" for those.
	Root string `json:"root,omitempty"`
	// Damaged wraps ErrDamaged where what the token may do cannot be read: it is to be used by nobody. nil is as it was written.
	Damaged error `json:"-"`
}

// Rights returns who uses the token; of a damaged one, whoever may do all.
func (s *StoredToken) Rights() Actor {
	if s.Damaged != nil {
		return Actor{Name: s.Name, Role: Admin, Token: s.ID}
	}
	return s.Actor()
}

// TokenTx reads tokens.
type TokenTx interface {
	// Tokens returns all tokens, also those that are Damaged, in the order of their IDs.
	Tokens() ([]StoredToken, error)
	// Token returns the token with an ID, which may be Damaged; the zero value if there is none.
	Token(id string) (StoredToken, error)
}

// TokenWriteTx changes tokens.
type TokenWriteTx interface {
	AddToken(t StoredToken) error
	RemoveToken(id string) error
	// SetTokenUsed sets the day of the last use of a token, unless there is none or it was used later.
	SetTokenUsed(id, day string) error
}
