package deploy

import (
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/urnd/urnd/internal/testserver"
)

const compose = root + "/deploy/compose/"

// project loads the Compose file: it is checked by the schema of the specification, which knows each key.
func project(t *testing.T, environment ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{compose + "compose.yaml"}, cli.WithEnv(environment), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func loaded(t *testing.T) *types.Project {
	t.Helper()
	p, err := project(t, "URND_VERSION=1.0")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// urnds returns the services that are urnd, by their names.
func urnds(t *testing.T) (names []string, one types.ServiceConfig) {
	t.Helper()
	for name, s := range loaded(t).Services {
		if strings.HasPrefix(s.Image, "localhost/urnd:") {
			names, one = append(names, name), s
		}
	}
	slices.Sort(names)
	if len(names) < 2 {
		t.Fatalf("more than one urnd is expected: %q", names)
	}
	return names, one
}

// Each container is without privileges, and is asked whether it works.
func TestComposeIsClosed(t *testing.T) {
	for name, s := range loaded(t).Services {
		user, _, _ := strings.Cut(s.User, ":")
		uid, err := strconv.Atoi(user)
		for what, holds := range map[string]bool{
			"a user who is not root": err == nil && uid > 0,
			"a read-only root":       s.ReadOnly,
			"no new privileges":      slices.Contains(s.SecurityOpt, "no-new-privileges:true"),
			"no capabilities":        slices.Equal(s.CapDrop, []string{"ALL"}) && len(s.CapAdd) == 0 && !s.Privileged,
			"a health check":         s.HealthCheck != nil && len(s.HealthCheck.Test) > 1,
			"a limit of memory":      s.MemLimit > 0 && s.PidsLimit > 0,
			"a version":              strings.Contains(s.Image, ":") && !strings.HasSuffix(s.Image, ":latest"),
			"logs that end":          s.Logging != nil && s.Logging.Options["max-size"] != "",
		} {
			if !holds {
				t.Errorf("%s is without %s", name, what)
			}
		}
		if name != "haproxy" && len(s.Ports) > 0 {
			t.Errorf("%s is reached from outside", name)
		}
	}
}

// Without a version in the environment, that of the tree is run.
func TestComposeVersion(t *testing.T) {
	for want, environment := range map[string][]string{version(t): nil, "1.0": {"URND_VERSION=1.0"}} {
		p, err := project(t, environment...)
		if err != nil || p.Services["urnd-1"].Image != "localhost/urnd:"+want {
			t.Errorf("%q: %s, %v", environment, p.Services["urnd-1"].Image, err)
		}
	}
}

// version returns that of the tree.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(read(t, root+"/cmd/urnd/version.txt"))
}

// What services refer to is there: files, and secrets that secrets.sh makes.
func TestComposeFiles(t *testing.T) {
	p := loaded(t)
	made := secrets(t)
	for name, s := range p.Secrets {
		if _, err := os.Stat(filepath.Join(made, filepath.Base(s.File))); err != nil || filepath.Dir(s.File) != absolute(t, compose+"secrets") {
			t.Errorf("the secret %s is %s, which secrets.sh does not make: %v", name, s.File, err)
		}
	}
	for name, c := range p.Configs {
		if _, err := os.Stat(c.File); err != nil {
			t.Errorf("the configuration %s: %v", name, err)
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// secrets returns a directory of secrets, as an administrator makes it.
func secrets(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give files to the group of the containers")
	}
	to := filepath.Join(t.TempDir(), "secrets")
	run(t, compose+"secrets.sh", to)
	return to
}

func run(t *testing.T, binary string, arguments ...string) string {
	t.Helper()
	out, err := exec.Command(binary, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", binary, err, out)
	}
	return string(out)
}

// A second run of secrets.sh changes none: a new secret would lock out who has the old one.
func TestSecretsStay(t *testing.T) {
	to := secrets(t)
	before := make(map[string]string)
	files, err := os.ReadDir(to)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm()&0o007 != 0 {
			t.Errorf("everybody may read %s: %v, %v", f.Name(), info.Mode(), err)
		}
		before[f.Name()] = read(t, filepath.Join(to, f.Name()))
	}
	run(t, compose+"secrets.sh", to)
	for name, text := range before {
		if read(t, filepath.Join(to, name)) != text {
			t.Errorf("%s is another one", name)
		}
	}
}

// urnd takes the configuration, in the memory that it has, and knows the networks.
func TestComposeConfiguration(t *testing.T) {
	_, one := urnds(t)
	c := configure(t, read(t, compose+"urnd.yaml"), "/run/secrets/")
	c.check(t, strconv.FormatInt(int64(one.MemLimit)*9/10, 10)+"B")
	var mounted []string
	for _, s := range one.Secrets {
		mounted = append(mounted, s.Source)
	}
	for name := range c.secrets {
		if !slices.Contains(mounted, name) {
			t.Errorf("the container does not have the secret %s", name)
		}
	}
	if len(mounted) != len(c.secrets) {
		t.Errorf("the container has %q, and uses %v", mounted, c.secrets)
	}
	if stopping := c.stopping(t); time.Duration(*one.StopGracePeriod) <= stopping {
		t.Errorf("urnd is killed after %v, and may need %v to stop", one.StopGracePeriod, stopping)
	}
	subnet := netip.MustParsePrefix(loaded(t).Networks["front"].Ipam.Config[0].Subnet).String()
	settings := c.settings(t)
	for _, name := range []string{"listen.proxy_protocol", "access.admin_clients"} {
		if !strings.Contains(settings[name], subnet) {
			t.Errorf("%s is %s, without the network %s", name, settings[name], subnet)
		}
	}
	if n := loaded(t).Networks["back"]; !n.Internal {
		t.Error("the stores have a way to the Internet")
	}
	for setting, want := range map[string]string{"registry.store": "@postgres/names?", "cache.shared": "@valkey:6379/"} {
		if !strings.Contains(settings[setting], want) {
			t.Errorf("%s is %s, and no service of the Compose file", setting, settings[setting])
		}
	}
}

// Each urnd has a volume of its own where its jobs are, and all have fewer connections together than PostgreSQL allows.
func TestComposeState(t *testing.T) {
	settings := configure(t, read(t, compose+"urnd.yaml"), "/run/secrets/").settings(t)
	p, seen := loaded(t), make(map[string]bool)
	names, _ := urnds(t)
	for _, name := range names {
		for _, v := range p.Services[name].Volumes {
			if v.Target == settings["cache.directory"] && v.Type == types.VolumeTypeVolume && !v.ReadOnly {
				seen[v.Source] = true
			}
		}
	}
	if len(seen) != len(names) {
		t.Errorf("%d urnds have the directories %v at %s", len(names), seen, settings["cache.directory"])
	}
	server, err := url.Parse(settings["registry.store"])
	if err != nil {
		t.Fatal(err)
	}
	const allowed = 97 // three of 100 are for the superuser
	pool, err := strconv.Atoi(server.Query().Get("pool_max_conns"))
	if all := len(names) * (pool + 1); err != nil || all > allowed {
		t.Errorf("they have %d connections together, %v", all, err)
	}
}

// HAProxy takes its configuration, which leads to each urnd, once two probes have found it ready.
func TestComposeHAProxy(t *testing.T) {
	run(t, testserver.Need(t, "haproxy"), "-c", "-q", "-f", compose+"haproxy.cfg")
	if !strings.Contains(read(t, compose+"haproxy.cfg"), " fall 2 rise 2 ") {
		t.Error("an urnd is asked after one good probe")
	}
	names, _ := urnds(t)
	var servers []string
	for line := range strings.Lines(read(t, compose+"haproxy.cfg")) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "server" && words[2] == words[1]+":8141" {
			servers = append(servers, words[1])
		}
	}
	if !slices.Equal(servers, names) {
		t.Errorf("HAProxy asks %q, and there are %q", servers, names)
	}
}
