package registry

import "time"

// Token authorizes a client of the API to read or change entries. Its secret is shown once and not stored; only
// its hash is stored.
type Token struct {
	ID       string   `json:"id"` // not secret
	Name     string   `json:"name"`
	Role     Role     `json:"role"`
	Prefixes []string `json:"prefixes,omitempty"` // prefixes of the names to which it is restricted; nil is all names
	// Actions restrict the actions that its role permits; nil is all of them.
	Actions []Action  `json:"actions,omitempty"`
	Note    string    `json:"note,omitempty"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	Expires time.Time `json:"expires,omitzero"` // first time at which it is no longer valid; the zero value is never
	Used    string    `json:"used,omitempty"`   // day of its last use, "2031-05-01"
}

// Actor returns the actor that uses the token.
func (t Token) Actor() Actor {
	return Actor{Name: t.Name, Role: t.Role, Prefixes: t.Prefixes, Actions: t.Actions, Token: t.ID}
}

// ValidAt reports whether the token is not expired at a time.
func (t Token) ValidAt(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// StoredToken is the stored form of a Token.
type StoredToken struct {
	Token
	Hash []byte `json:"hash"` // SHA-256 of the secret, whose 256 random bits rule out a brute-force search
	// Root is the ID of the token from which it descends: the first token in its ancestry that was created by
	// another token rather than by an administrator. "" for tokens created by an administrator.
	Root string `json:"root,omitempty"`
	// Damaged wraps ErrDamaged if the permissions of the token cannot be read: the token must then be rejected.
	// nil if the token is intact.
	Damaged error `json:"-"`
}

// Rights returns the actor that uses the token. For a damaged token it is an actor with all permissions, the
// upper bound of what the token could permit.
func (s *StoredToken) Rights() Actor {
	if s.Damaged != nil {
		return Actor{Name: s.Name, Role: Admin, Token: s.ID}
	}
	return s.Actor()
}

// TokenTx reads tokens.
type TokenTx interface {
	// Tokens returns all tokens, including damaged ones, in the order of their IDs.
	Tokens() ([]StoredToken, error)
	// Token returns the token with an ID, which may be damaged; the zero value if there is none.
	Token(id string) (StoredToken, error)
}

// TokenWriteTx changes tokens.
type TokenWriteTx interface {
	AddToken(t StoredToken) error
	RemoveToken(id string) error
	// SetTokenUsed sets the day of the last use of a token, unless the token does not exist or was used on a
	// later day.
	SetTokenUsed(id, day string) error
}
