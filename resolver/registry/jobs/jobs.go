package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Config configures Jobs. All fields must be set.
type Config struct {
	Registry  *registry.Registry
	Directory string // for the bodies; it is made where it is not there
	MaxBody   int64  // octets of a body
	Log       *slog.Logger
}

// Jobs are the imports of clients. They are safe for concurrent use.
type Jobs struct {
	config Config
	wake   chan struct{} // a job has come
}

// New returns Jobs; Run runs them.
func New(config Config) *Jobs { return &Jobs{config, make(chan struct{}, 1)} }

// Bounds of jobs. Those of a token leave others their part, whatever it sends; administrators have one together.
const (
	maxWaiting        = 10_000 // that have not ended
	maxWaitingOfToken = 100
	maxBodies         = 4        // of the largest size that are here, before more is received
	maxBodiesOfToken  = 2        // of these
	reportsPart       = 8        // the reports of a token may be an eighth of the largest body
	leastReports      = 64 << 10 // or so many octets, where bodies are small
	checkedPart       = 1 << 24  // octets of a body, after which it is looked again whether there is room
	maxKeptOfToken    = 500      // with their reports and idempotency keys
	maxListed         = 500
	maxExpired        = 16                  // that one that is accepted removes
	maxItems          = 1_000_000           // that are read of an index
	keptFor           = 30 * 24 * time.Hour // after their end
	maxRejections     = 20                  // in the document
	maxRejected       = 100_000             // lines in the file
	maxDifferences    = 100_000             // names in the file of a dry run
	maxInput          = 500                 // octets of a rejected line that are kept, and of the reason
	silentFor         = 5 * time.Minute     // then a running job is called interrupted, and none waits for it
	maxKey            = 200                 // octets of an idempotency key
	savedEvery        = 2 * time.Second     // progress
	heardEvery        = time.Minute         // where there is no progress
	checkedEvery      = time.Second         // whether it is to be cancelled
	searchedEvery     = 2 * time.Second     // for jobs of which nobody has told
	finishedWithin    = 5 * time.Second     // the last write of a job
)

var (
	// ErrLarge means that a body has more octets than are taken.
	ErrLarge = fmt.Errorf("%w: the body is larger than is taken", registry.ErrLarge)
	// ErrShare means that too many jobs of the same token wait.
	ErrShare = fmt.Errorf("%w: too many jobs with this token wait", registry.ErrShare)
	// ErrCompressed means that a body is compressed.
	ErrCompressed = errors.New("the body is compressed, so that its size is not known: send it as it is")
	// ErrEnded means that a job has ended already.
	ErrEnded = fmt.Errorf("%w: the job has ended already", registry.ErrJobEnded)
	// ErrElsewhere means that another instance has the file.
	ErrElsewhere = fmt.Errorf("%w: the file is with another instance, or was removed", registry.ErrJob)

	errCancelled = errors.New("the job was cancelled")
	errRevoked   = errors.New("the token of the job is not valid any more")
)

// readsAll reports whether an actor may know of all jobs.
func readsAll(actor registry.Actor) bool {
	return actor.Role == registry.Admin && actor.Prefixes == nil
}

// mayRead returns registry.ErrJob unless an actor may know of a job: its own, or all of an Admin of all names.
func mayRead(actor registry.Actor, j storedJob) error {
	if readsAll(actor) || actor.Token == j.Actor.Token && actor.Name == j.Actor.Name {
		return nil
	}
	return registry.ErrJob
}

// Get returns a job that an actor may know of.
func (j *Jobs) Get(ctx context.Context, actor registry.Actor, id string) (Job, error) {
	found, err := j.readable(ctx, actor, id)
	if err != nil {
		return Job{}, err
	}
	return j.shown(found), nil
}

// readable returns a job that an actor may know of, as it is stored.
func (j *Jobs) readable(ctx context.Context, actor registry.Actor, id string) (storedJob, error) {
	found, err := j.stored(ctx, id)
	if err == nil {
		err = mayRead(actor, found)
	}
	return found, err
}

func (j *Jobs) stored(ctx context.Context, id string) (found storedJob, err error) {
	err = j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		found, err = read(tx, id)
		return err
	})
	return found, err
}

// shown returns a job as it is shown.
func (j *Jobs) shown(of storedJob) Job {
	if of.Rejections == nil {
		of.Rejections = []Rejection{}
	}
	if of.State == Running && j.config.Registry.Now().Sub(of.Updated) > silentFor {
		of.State = Interrupted
	}
	return of.Job
}

// List returns the jobs that an actor may know of, the newest first, of which there are at most 500.
func (j *Jobs) List(ctx context.Context, actor registry.Actor) ([]Job, error) {
	of := keyToken
	if !readsAll(actor) {
		of = ofToken(actor.Token)
	}
	var all []storedJob
	err := j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		all = all[:0]
		known, err := items[kept](tx, of)
		slices.SortFunc(known, func(a, b item[kept]) int { return cmp.Compare(b.id, a.id) })
		for _, one := range known[:min(len(known), maxListed)] {
			found, readErr := read(tx, one.id)
			if readErr != nil {
				return readErr
			}
			if mayRead(actor, found) == nil {
				all = append(all, found)
			}
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b storedJob) int { return cmp.Compare(b.Order, a.Order) })
	list := make([]Job, len(all))
	for i, found := range all {
		list[i] = j.shown(found)
	}
	return list, err
}

// Cancel cancels a job, and returns it: one that runs ends within seconds. ErrEnded means that it is too late.
func (j *Jobs) Cancel(ctx context.Context, actor registry.Actor, id string) (Job, error) {
	var found storedJob
	err := j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) (err error) {
		if found, err = read(tx, id); err != nil {
			return err
		}
		if err := mayRead(actor, found); err != nil {
			return err
		}
		if found.State.ended() {
			return fmt.Errorf("%w: it is %s", ErrEnded, found.State)
		}
		found.Cancel, found.Updated = true, j.config.Registry.Now()
		if found.State == Queued {
			found.State, found.Ended = Cancelled, found.Updated
		}
		return put(tx, found)
	})
	if err != nil {
		return Job{}, err
	}
	j.awake()
	return j.shown(found), nil
}

// Rejected opens the rejected lines of a job, as NDJSON of Rejection.
func (j *Jobs) Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	of, err := j.readable(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(j.path(of.body(), rejectedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrElsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("opening the rejected lines: %w", err)
	}
	return f, nil
}

// awake has Run look for jobs.
func (j *Jobs) awake() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}
