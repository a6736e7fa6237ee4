package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/count"
	"github.com/urnd/urnd/resolver/registry/rename"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// migrateFlags are the flags of urnd registry migrate.
type migrateFlags struct {
	dry, collisions, noBackup bool
	backup, note, format      string
	resolve                   []string
	limit                     int64
}

// migrateLimit is how many lines are printed that nothing else is said of.
const migrateLimit = 1000

func newMigrate(w Wiring) *cobra.Command {
	var m migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Rename what was registered by spellings that are not canonical any more",
		Long: `Rename what was registered, by older versions of urnd or before a rule of the configuration, by names that are not the
canonical ones of today. A name keeps its versions: its history goes on behind that by which it is renamed. Aliases and counts follow it.

Where several entries are one name now, they collide: all stay, and are reachable as they were registered, until --resolve says which
one has the name. The others become aliases of it, with their history. --resolve takes the name of an entry as it is printed, @FILE with
such names, one a line, or newest: the one that was changed last, of all that are not named.

A backup is made first: beside the file of the store, with the suffix .before-migrate and its digest, of the schema that the file has,
so that the version of urnd that wrote it reads it. Of a PostgreSQL database all versions are exported to the file of --backup;
pg_dump is better, and then --no-backup is right. The way back is urnd registry restore, with the backup.

Each line is a name, what happens to it, and its canonical name, separated by tabs. --dry-run changes nothing. A run that was
interrupted goes on where it was when the command is given again. The exit status is 1 while something collides.`,
		Example: `  urnd registry migrate --dry-run
  urnd registry migrate --dry-run --collisions --format csv --limit 0
  urnd registry migrate
  urnd registry migrate --resolve ark:/12345/x-1`,
		Args: cobra.NoArgs,
	}
	f := addStore(cmd, w)
	flags := cmd.Flags()
	flags.BoolVar(&m.dry, "dry-run", false, "print what would be done, and change nothing")
	flags.BoolVar(&m.collisions, "collisions", false, "print only what collides, and names that are left as they are")
	flags.StringArrayVar(&m.resolve, "resolve", nil, "of entries that collide, this `name` has it from now on; or newest, or @FILE; may be repeated")
	flags.StringVar(&m.backup, "backup", "", "make the backup in this `file`")
	flags.BoolVar(&m.noBackup, "no-backup", false, "make no backup")
	flags.StringVar(&m.note, "note", "its canonical name", "why: a `text`, which the history has")
	flags.StringVar(&m.format, "format", "text", "the `format`: text, csv or ndjson")
	flags.Int64Var(&m.limit, "limit", migrateLimit, "print at most this `number` of lines; 0 is all")
	cmd.MarkFlagsMutuallyExclusive("backup", "no-backup")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return m.run(cmd, f) }
	return cmd
}

// run finds what is to be done, and does it.
func (m *migrateFlags) run(cmd *cobra.Command, f *storeFlags) error {
	decisions, err := m.decisions()
	if err != nil {
		return cli.Usage(err)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	printed, err := newMigrationPrinter(out, m)
	if err != nil {
		return cli.Usage(err)
	}
	r, file, err := f.openUnchanged(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = r.Store().Close() }()
	run := rename.Run{
		Config: rename.Config{Registry: r, TempDir: os.TempDir()}, Actor: actor(), Note: m.note,
		DryRun: true, Resolve: decisions.of, Moved: count.Move, Report: func(rename.Action) error { return nil },
	}
	if m.dry {
		run.Report = printed.print
	}
	sum, err := run.Do(cmd.Context())
	if err = errors.Join(err, printed.end()); err != nil {
		return err
	}
	if err := decisions.unused(); err != nil {
		return cli.Usage(err)
	}
	if m.dry || !changes(sum) {
		return m.conclude(cmd, sum, printed.left())
	}
	if err := m.save(cmd, r, file); err != nil {
		return err
	}
	if err := r.Store().Close(); err != nil {
		return err
	}
	opened, _, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	defer opened.Store().Close()
	run.Registry, run.DryRun, run.Report = opened, false, printed.print
	sum, err = run.Do(cmd.Context())
	if err = errors.Join(err, printed.end()); err != nil {
		return fmt.Errorf("migrating names: %w; the same command goes on with it", err)
	}
	return m.conclude(cmd, sum, printed.left())
}

// changes reports whether a run would change something.
func changes(sum rename.Summary) bool {
	return sum.Seen[rename.Rename]+sum.Seen[rename.Merge]+sum.Seen[rename.Alias] > 0
}

// openUnchanged opens the registry as it is: of a file also one of an older schema, which is returned too.
func (f *storeFlags) openUnchanged(ctx context.Context) (*registry.Registry, *sqlite.Store, error) {
	c, err := f.settings.Load(map[string]string{"registry.store": "store"})
	if err == nil {
		err = f.wiring.Lost(c)
	}
	if err != nil {
		return nil, nil, err
	}
	path, ok := cli.StoreFile(c.Registry.Store)
	if !ok {
		r, _, err := f.open(ctx)
		return r, nil, err
	}
	names, err := f.wiring.Names(c)
	if err != nil {
		return nil, nil, err
	}
	file, err := sqlite.OpenUnchanged(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return f.wiring.New(file, names, nil), file, nil
}

var errNoBackup = errors.New("of a PostgreSQL database say where a backup is made: --backup FILE.ndjson.zst for all versions, " +
	"or pg_dump and --no-backup")

// save makes the backup from before.
func (m *migrateFlags) save(cmd *cobra.Command, r *registry.Registry, file *sqlite.Store) error {
	if m.noBackup {
		return nil
	}
	name := m.backup
	switch {
	case name == "" && file == nil:
		return cli.Usage(errNoBackup)
	case name == "":
		name = unusedName(file.Path() + ".before-migrate")
	}
	var err error
	if file == nil {
		if err := checkExportFile(name, bulk.Detect, false); err != nil {
			return cli.Usage(err)
		}
		err = exportTo(cmd.Context(), r, bulk.ExportOptions{Format: bulk.NDJSON, History: true}, name, nil)
		if err == nil {
			err = sqlite.WriteDigest(cmd.Context(), name)
		}
	} else {
		if err := checkBackupFile(file.Path(), name, false); err != nil {
			return cli.Usage(err)
		}
		p := newProgress(cmd.ErrOrStderr(), "copied")
		err = file.Backup(cmd.Context(), name, func(done, all int) { p.at(int64(done), int64(all)) })
	}
	if err != nil {
		return fmt.Errorf("nothing was migrated: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %s is the backup, and %s its digest\n", name, sqlite.DigestFile(name))
	return nil
}

// unusedName returns a name with a number behind it where there is such a file.
func unusedName(name string) string {
	for i, numbered := 2, name; ; i++ {
		if _, err := os.Lstat(numbered); err != nil {
			return numbered
		}
		numbered = fmt.Sprintf("%s-%d", name, i)
	}
}

// conclude says what was done.
func (m *migrateFlags) conclude(cmd *cobra.Command, sum rename.Summary, left int64) error {
	w, seen := cmd.ErrOrStderr(), sum.Seen
	if left > 0 {
		fmt.Fprintf(w, "urnd: %d more lines are not printed: use --limit 0, or --collisions\n", left)
	}
	done := "renamed"
	if m.dry {
		done = "would be renamed"
	}
	text := fmt.Sprintf("urnd: %d %s, %d decided to be another name, %d collide, %d left as they are",
		seen[rename.Rename]+seen[rename.Merge], done, seen[rename.Alias], seen[rename.Collision], seen[rename.Left])
	if sum.Set.Number > 0 {
		text += fmt.Sprintf("; by the change set %d", sum.Set.Number)
	}
	fmt.Fprintln(w, text)
	if seen[rename.Collision] > 0 {
		fmt.Fprintln(w, "urnd: what collides stays as it was registered: say by --resolve which entry has the name")
		return cli.ErrReported
	}
	return nil
}
