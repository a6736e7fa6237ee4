package deploy

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/pod-security-admission/api"
	admission "k8s.io/pod-security-admission/policy"
)

// secretsAt is the directory of secrets in a pod.
const secretsAt = "/run/secrets/urnd/"

// knownSecrets returns the keys of the Secret in deploy/kubernetes/secret.example.yaml.
func knownSecrets(t *testing.T) map[string]bool {
	t.Helper()
	var o objects
	o.decode(t, "secret.example.yaml", []byte(read(t, kubernetes+"secret.example.yaml")))
	if len(o.secrets) != 1 {
		t.Fatalf("%d secrets", len(o.secrets))
	}
	known := make(map[string]bool)
	for key, value := range o.secrets[0].StringData {
		known[key] = true
		if value != "REPLACE" {
			t.Errorf("%s has a value", key)
		}
	}
	return known
}

// deployment returns the only Deployment.
func (o *objects) deployment(t *testing.T) *apps.Deployment {
	t.Helper()
	if len(o.deployments) != 1 || len(o.deployments[0].Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%d deployments; one with one container is expected", len(o.deployments))
	}
	return o.deployments[0]
}

func (o *objects) container(t *testing.T) core.Container {
	t.Helper()
	return o.deployment(t).Spec.Template.Spec.Containers[0]
}

// configured returns the configuration of the pods from the mounted ConfigMap.
func (o *objects) configured(t *testing.T) configured {
	t.Helper()
	for _, v := range o.deployment(t).Spec.Template.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		for _, config := range o.configs {
			if config.Name == v.ConfigMap.Name && config.Namespace == o.deployment(t).Namespace {
				return configure(t, config.Data["urnd.yaml"], secretsAt)
			}
		}
		t.Fatalf("no ConfigMap %q for the pods", v.ConfigMap.Name)
	}
	t.Fatal("the pods mount no ConfigMap")
	return configured{}
}

// checkConfiguration lets urnd check the configuration of the pods with their memory limit.
func (o *objects) checkConfiguration(t *testing.T) {
	t.Helper()
	limit := o.container(t).Resources.Limits[core.ResourceMemory]
	const usable = 9. / 10 // of the limit of a control group: docs/operations.md
	c := o.configured(t)
	c.check(t, strconv.FormatInt(int64(float64(limit.Value())*usable), 10)+"B")
	known := knownSecrets(t)
	for name := range c.secrets {
		if !known[name] {
			t.Errorf("the configuration names %s%s, which is in no Secret", secretsAt, name)
		}
	}
	if !strings.HasPrefix(c.settings(t)["access.admin_token"], "/") {
		t.Error("administrators need no token")
	}
	grace := time.Duration(*o.deployment(t).Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if stopping := c.stopping(t); grace <= stopping {
		t.Errorf("a pod is killed after %v, and may need %v to stop", grace, stopping)
	}
	probe := o.container(t).ReadinessProbe
	unready := time.Duration(probe.PeriodSeconds*probe.FailureThreshold+probe.TimeoutSeconds) * time.Second
	if notice, err := time.ParseDuration(c.settings(t)["limits.notice_time"]); err != nil || notice <= unready {
		t.Errorf("limits.notice_time is %v, and it takes %v until a pod is found not to be ready", notice, unready)
	}
}

// checkPods checks that the pods are as restricted as the systemd unit, and that their probes use paths of
// urnd.
func (o *objects) checkPods(t *testing.T) {
	t.Helper()
	o.checkConfinement(t)
	o.checkProbes(t)
	o.checkVolumes(t)
	d := o.deployment(t)
	if labels := d.Spec.Selector.MatchLabels; len(labels) == 0 || !matches(labels, d.Spec.Template.Labels) {
		t.Errorf("the selector %v does not match the pods %v", labels, d.Spec.Template.Labels)
	}
	if u := d.Spec.Strategy.RollingUpdate; u == nil || u.MaxUnavailable.IntValue() != 0 || u.MaxSurge.IntValue() < 1 {
		t.Errorf("an update takes a pod away before another one is ready: %+v", d.Spec.Strategy)
	}
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		if !matches(c.LabelSelector.MatchLabels, d.Spec.Template.Labels) {
			t.Errorf("the topology %s does not select the pods", c.TopologyKey)
		}
	}
	if len(d.Spec.Template.Spec.TopologySpreadConstraints) == 0 {
		t.Error("all pods may be on one node")
	}
}

func (o *objects) checkConfinement(t *testing.T) {
	t.Helper()
	pod, container := o.deployment(t).Spec.Template.Spec, o.container(t)
	no := func(b *bool) bool { return b != nil && !*b }
	yes := func(b *bool) bool { return b != nil && *b }
	p, c := pod.SecurityContext, container.SecurityContext
	for what, holds := range map[string]bool{
		"runAsNonRoot": yes(p.RunAsNonRoot) && p.RunAsUser != nil && *p.RunAsUser != 0,
		"seccomp": p.SeccompProfile != nil &&
			p.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
		"read-only root": yes(c.ReadOnlyRootFilesystem),
		"no escalation":  no(c.AllowPrivilegeEscalation),
		"not privileged": no(c.Privileged),
		"no capabilities": len(c.Capabilities.Drop) == 1 && c.Capabilities.Drop[0] == "ALL" &&
			len(c.Capabilities.Add) == 0,
		"no token of Kubernetes":            no(pod.AutomountServiceAccountToken),
		"no variables that begin with URND": no(pod.EnableServiceLinks),
		"nothing of the node":               !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
		"a limit of memory":                 container.Resources.Limits.Memory().Cmp(resource.Quantity{}) > 0,
		"a request of processor time":       container.Resources.Requests.Cpu().Cmp(resource.Quantity{}) > 0,
	} {
		if !holds {
			t.Errorf("the pods are without: %s", what)
		}
	}
	checks, err := admission.NewEvaluator(admission.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range checks.EvaluatePod(restricted, &o.deployment(t).Spec.Template.ObjectMeta, &pod) {
		if !result.Allowed {
			t.Errorf("a namespace that enforces the restricted standard refuses the pods: %s: %s",
				result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	for _, account := range o.accounts {
		if account.Name == pod.ServiceAccountName && no(account.AutomountServiceAccountToken) {
			return
		}
	}
	t.Errorf("no ServiceAccount %q without a token", pod.ServiceAccountName)
}

func (o *objects) checkProbes(t *testing.T) {
	t.Helper()
	c := o.container(t)
	for path, probe := range map[string]*core.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path {
			t.Errorf("no probe asks %s: %+v", path, probe)
			continue
		}
		if port := portOf(c, probe.HTTPGet.Port.String()); port != adminPort {
			t.Errorf("%s is asked at the port %d", path, port)
		}
	}
	if c.StartupProbe == nil {
		t.Error("no probe while it starts")
	}
}

// Ports of the container.
const (
	servicePort = 8141
	adminPort   = 8142
)

// portOf returns the number of a container port by name or number, 0 if it does not exist.
func portOf(c core.Container, name string) int32 {
	for _, p := range c.Ports {
		if p.Name == name || strconv.Itoa(int(p.ContainerPort)) == name {
			return p.ContainerPort
		}
	}
	return 0
}

// checkVolumes checks that the pods have the secrets at the configured paths, and only write to volumes.
func (o *objects) checkVolumes(t *testing.T) {
	t.Helper()
	volumes := make(map[string]core.Volume)
	for _, v := range o.deployment(t).Spec.Template.Spec.Volumes {
		volumes[v.Name] = v
	}
	at := make(map[string]core.Volume)
	for _, m := range o.container(t).VolumeMounts {
		v, ok := volumes[m.Name]
		if !ok {
			t.Errorf("no volume %s", m.Name)
		}
		if (v.Secret != nil || v.ConfigMap != nil) && !m.ReadOnly {
			t.Errorf("%s can be written", m.Name)
		}
		at[m.MountPath] = v
	}
	secret := at[strings.TrimSuffix(secretsAt, "/")].Secret
	if secret == nil || secret.SecretName == "" || *secret.DefaultMode&0o007 != 0 {
		t.Errorf("no Secret at %s that only the group can read: %+v", secretsAt, secret)
	}
	if at["/etc/urnd"].ConfigMap == nil {
		t.Error("no ConfigMap at /etc/urnd")
	}
	state := at[o.configured(t).settings(t)["cache.directory"]]
	if limit := state.EmptyDir; limit != nil &&
		(limit.SizeLimit == nil || limit.SizeLimit.Cmp(resource.MustParse("4Gi")) < 0) {
		t.Errorf("jobs of 4 GiB have a directory of %v", limit.SizeLimit)
	} else if limit == nil {
		t.Error("jobs have no directory that can be written")
	}
	if args := strings.Join(o.container(t).Args, " "); args != "serve --config /etc/urnd/urnd.yaml" {
		t.Errorf("urnd is started by %q", args)
	}
}

// matches reports whether a selector matches labels.
func matches(selector, labels map[string]string) bool {
	both := maps.Clone(labels)
	maps.Copy(both, selector)
	return len(selector) > 0 && maps.Equal(both, labels)
}
