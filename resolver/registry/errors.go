package registry

import "errors"

var (
	// ErrUnknown means that a name or prefix is not registered.
	ErrUnknown = errors.New("not registered")
	// ErrInvalid means that what is to be registered is not valid.
	ErrInvalid = errors.New("not valid")
	// ErrConflict means that an entry has changed since, or is already there.
	ErrConflict = errors.New("conflict")
	// ErrExhausted means that not enough names are free to be minted.
	ErrExhausted = errors.New("not enough names are free")
	// ErrDenied means that someone may not change a name.
	ErrDenied = errors.New("not permitted")
	// ErrToken means that a secret is not that of a token that is valid.
	ErrToken = errors.New("the token is not valid, has expired or was revoked")
	// ErrNoStore means that the store cannot be used now.
	ErrNoStore = errors.New("the registry is not available")
	// ErrReadOnly means that a database can be asked, and accepts no changes, as a standby does.
	ErrReadOnly = errors.New("the database accepts no changes")
	// ErrReplaced means that the file of a store is not the one that was opened.
	ErrReplaced = errors.New("its file was removed or replaced while it was in use")
	// ErrReopen means that a store that could only be read must be opened again.
	ErrReopen = errors.New("it could not be written to, and has changed or can be now: it is to be opened again")
	// ErrSchema means that a store was written by a newer urnd.
	ErrSchema = errors.New("the registry was written by another version of urnd")
	// ErrDamaged means that the content of a store is not what was written.
	ErrDamaged = errors.New("the registry is damaged")
	// ErrSelection means that what a request chooses, or how much of it, is not valid.
	ErrSelection = errors.New("the parameters are not valid")
	// ErrLarge means that a document or a body is too large.
	ErrLarge = errors.New("the document is larger than is taken here")
	// ErrShare means that a token has as much at a time of what is bounded as one may have.
	ErrShare = errors.New("this token has its part already, and others have theirs; try again when something of it has ended")
	// ErrExports means that too many names are being exported, of all tokens.
	ErrExports = errors.New("too many exports at a time")
	// ErrJob means that there is no such job, ErrJobEnded that it has ended already, and ErrJobs that too many wait, of all tokens.
	ErrJob      = errors.New("there is no such job")
	ErrJobEnded = errors.New("the job cannot be cancelled")
	ErrJobs     = errors.New("too many jobs wait; try again later")
	// ErrNoJobs means that jobs cannot be kept.
	ErrNoJobs = errors.New("there is no directory for the bodies of jobs")
	// ErrKeyReused means that an idempotency key was sent with another request before.
	ErrKeyReused = errors.New("this Idempotency-Key was sent with another request before")
)
