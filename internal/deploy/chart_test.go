package deploy

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

const chart = root + "/deploy/helm/urnd"

// release is a rendered chart.
type release struct {
	objects
	notes string
}

// render renders the chart with values in YAML like "helm install NAME", but without access to a cluster.
func render(name, values string) (map[string]string, error) {
	loaded, err := loader.Load(chart)
	if err != nil {
		return nil, fmt.Errorf("loading: %w", err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	options := chartutil.ReleaseOptions{Name: name, Namespace: "names", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	return engine.Engine{Strict: true}.Render(loaded, all)
}

func install(t *testing.T, name, values string) *release {
	t.Helper()
	files, err := render(name, values)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{}
	for file, text := range files {
		switch base := path.Base(file); {
		case base == "NOTES.txt":
			r.notes = text
		case strings.HasSuffix(base, ".yaml"):
			r.decode(t, base, []byte(text))
		}
	}
	return r
}

// all contains values that enable every object.
const all = `
image: {digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
fullnameOverride: names
autoscaling: {minReplicas: 5, maxReplicas: 50, targetCPUUtilizationPercentage: 60}
podDisruptionBudget: {maxUnavailable: 20%}
existingSecret: secrets-of-names
registry:
  connections: 408
  store: postgres://urnd@db.example.org:5433/names?sslmode=verify-full
  replica: postgres://urnd@replica.example.org:5433/names?sslmode=verify-full
  port: 5433
  to: [{ipBlock: {cidr: 192.0.2.7/32}}]
sharedCache:
  url: rediss://urnd@cache.example.org:6380/1
  port: 6380
  to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: valkey}}}]
config:
  listen: {names: [urn.example.org, names.example.org]}
  access: {trusted_proxies: [10.244.0.0/16]}
  registry: {owned: ['urn:nbn:fi:'], hosts: [purl.example.org]}
  cache: {answers: 128MiB, stale_for: 12h}
  limits: {connections: 16384, dns_queries: 1000000}
  namespaces:
    - nid: example
      targets: [{template: 'https://example.org/{+urn}'}]
service: {type: LoadBalancer, port: 8080, annotations: {example.org/kind: internal}}
networkPolicy:
  internetPorts: [80, 443, 8080]
  egress: [{ports: [{port: 853}]}]
serviceMonitor: {enabled: true, interval: 15s, labels: {release: prometheus}}
resources: {requests: {cpu: 2, memory: 1Gi}, limits: {memory: 3Gi, ephemeral-storage: 20Gi}}
stateSize: 16Gi
podLabels: {team: library}
podAnnotations: {example.org/why: because}
nodeSelector: {kubernetes.io/arch: arm64}
tolerations: [{key: dedicated, operator: Equal, value: names, effect: NoSchedule}]
affinity: {podAntiAffinity: {}}
extraVolumes: [{name: cache, emptyDir: {sizeLimit: 1Gi}}]
extraVolumeMounts: [{name: cache, mountPath: /var/cache/urnd}]
`

// documented returns the values shown in docs/install.md.
func documented(t *testing.T) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, root+"/docs/install.md"), "```yaml\n# VALUES.yaml\n")
	text, _, ended := strings.Cut(text, "```")
	if !found || !ended {
		t.Fatal("docs/install.md shows no values")
	}
	return text
}

// few contains values that disable all optional objects.
const few = `
autoscaling: {enabled: false}
replicas: 1
podDisruptionBudget: {enabled: false}
networkPolicy: {enabled: false}
registry: {passwordKey: ""}
`

// TestChart checks the objects of the chart with its default values and with others.
func TestChart(t *testing.T) {
	for name, values := range map[string]string{
		"default":    "",
		"all":        all,
		"few":        few,
		"documented": documented(t),
		"registry":   "registry: {store: 'postgres://urnd@db.example.org/names'}",
		"pool": "registry: {store: 'postgres://urnd@db.example.org/names?pool_max_conns=5', " +
			"replica: 'postgres://urnd@replica.example.org/names'}",
		"shared":                "sharedCache: {url: 'redis://cache.example.org:6379', passwordKey: ''}",
		"open":                  "networkPolicy: {clients: [], administrators: [], dns: [], internetPorts: []}",
		"fixed":                 "autoscaling: {enabled: false}\nreplicas: 4\n",
		strings.Repeat("a", 53): "", // maximum length of a release name
	} {
		t.Run(name, func(t *testing.T) {
			r := install(t, name, values)
			r.checkPods(t)
			r.checkConfiguration(t)
			r.checkAround(t)
			r.checkConnections(t, 408)
			if name == "default" || name == "all" {
				r.lint(t)
			}
			for _, s := range r.services {
				if len(s.Name) > 63 { // RFC 1035
					t.Errorf("%s is not a name of a Service", s.Name)
				}
			}
		})
	}
}

func TestChartDefault(t *testing.T) {
	r := install(t, "north", "")
	if len(r.budgets) != 1 || len(r.scalers) != 1 || len(r.policies) != 1 || len(r.monitors) != 0 ||
		len(r.services) != 2 || len(r.secrets) != 0 {
		t.Errorf("%+v", r.objects)
	}
	if name, image := r.deployment(t).Name, r.container(t).Image; name != "north" ||
		!strings.HasPrefix(image, "registry.example.org/urnd:") {
		t.Errorf("%s, %s", name, image)
	}
	for _, want := range []string{"kubectl create secret generic north --namespace names", "Without sharedCache"} {
		if !strings.Contains(r.notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, r.notes)
		}
	}
	if strings.Contains(r.notes, "shared-key") {
		t.Errorf("the notes ask for secrets that are not used:\n%s", r.notes)
	}
}

func TestChartAll(t *testing.T) {
	r := install(t, "south", all)
	if len(r.monitors) != 1 || r.secretName(t) != "secrets-of-names" || r.deployment(t).Name != "names" {
		t.Errorf("%+v", r.objects)
	}
	if image := r.container(t).Image; image != "registry.example.org/urnd@sha256:"+strings.Repeat("0", 64) {
		t.Errorf("the image is %s", image)
	}
	settings := r.configured(t).settings(t)
	for name, want := range map[string]string{
		"registry.store":   "postgres://urnd@db.example.org:5433/names?sslmode=verify-full&pool_max_conns=7",
		"registry.replica": "postgres://urnd@replica.example.org:5433/names?sslmode=verify-full&pool_max_conns=7",
		"cache.directory":  "/var/lib/urnd",
		"registry.owned":   "['urn:nbn:fi:']", "cache.answers": "128MiB",
		"cache.shared": "rediss://urnd@cache.example.org:6380/1", "limits.dns_queries": "1000000",
		"limits.notice_time": "15s", "listen.admin": ":8142",
	} {
		if settings[name] != want {
			t.Errorf("%s is %s, want %s", name, settings[name], want)
		}
	}
	for _, want := range []string{
		"secret generic secrets-of-names", "--from-file=registry-password=",
		"--from-file=shared-password=", "--from-literal=shared-key=",
	} {
		if !strings.Contains(r.notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, r.notes)
		}
	}
}

// TestChartRolls checks that a changed configuration restarts the pods, and that a changed number of replicas
// does not.
func TestChartRolls(t *testing.T) {
	sum := func(values string) string {
		return install(t, "north", values).deployment(t).Spec.Template.Annotations["checksum/config"]
	}
	before := sum("")
	if before == "" || sum("replicas: 7") != before {
		t.Errorf("the checksum is %q, and %q with other replicas", before, sum("replicas: 7"))
	}
	for _, values := range []string{
		"config: {log: {level: DEBUG}}", "registry: {store: 'postgres://db/names'}",
		"sharedCache: {url: 'redis://cache'}",
	} {
		if sum(values) == before {
			t.Errorf("with %s the pods are the same", values)
		}
	}
}

// TestChartRefuses checks that invalid values are rejected before anything is installed.
func TestChartRefuses(t *testing.T) {
	for values, reason := range map[string]string{
		"replica: 3":                             "replica",
		"registry: {url: 'postgres://db/names'}": "url",
		"replicas: three":                        "replicas",
		"registry: {store: 'sqlite:/var/lib/urnd/registry.db'}": "store",
		"sharedCache: {url: 'http://cache'}":                    "url",
		"sharedCache: {sealKey: ''}":                            "sealKey",
		"image: {digest: 'latest'}":                             "digest",
		"podDisruptionBudget: {maxUnavailable: 0}":              "maxUnavailable",
		"fullnameOverride: North":                               "fullnameOverride",
		"service: {port: 80000}":                                "port",
		"config: 'listen: {}'":                                  "config",
		"stateSize: 0.5":                                        "stateSize",
		"autoscaling: {minReplicas: 11}": "autoscaling.minReplicas: 11 is more than " +
			"autoscaling.maxReplicas, 10",
		"terminationGracePeriodSeconds: 40":           "terminationGracePeriodSeconds: 40 is not more than",
		"config: {limits: {shutdown_timeout: 41s}}":   "together, 61s",
		"config: {limits: {shutdown_timeout: 1m30s}}": "together, 110s",
		"config: {limits: {drain_time: 5}}":           "config.limits.drain_time: 5 is not a duration",
		"resources: {limits: {memory: 256Mi}}": "resources.limits.memory: nine tenths of 256Mi " +
			"are less than the caches need",
		"config: {cache: {answers: 2GiB}}":                          "2256 MiB",
		"config: {cache: {responses: 1.5 gb}}":                      "1900 MiB",
		"config: {cache: {records: many}}":                          "config.cache.records: many is not a size",
		"registry: {store: 'postgres://db/names', connections: 32}": "registry.connections: 32 are too few for 11 pods",
	} {
		if _, err := render("north", values); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", values, err, reason)
		}
	}
}

// TestChartKnowsDefaults checks that the chart assumes the actual defaults of urnd.
func TestChartKnowsDefaults(t *testing.T) {
	settings := configure(t, "{}", secretsAt).settings(t)
	text := read(t, chart+"/templates/_check.tpl")
	for _, name := range []string{
		"limits.notice_time", "limits.drain_time", "limits.shutdown_timeout", "cache.answers", "cache.records",
		"cache.responses",
	} {
		_, leaf, _ := strings.Cut(name, ".")
		if want := fmt.Sprintf("%q %q", leaf, settings[name]); !strings.Contains(text, want) {
			t.Errorf("the chart does not have %s", want)
		}
	}
}

// TestChartLint checks that Helm's linter only reports the missing icon.
func TestChartLint(t *testing.T) {
	for _, m := range lint.All(chart, nil, "names", true).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}
