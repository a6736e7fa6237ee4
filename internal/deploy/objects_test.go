package deploy

import (
	"bytes"
	"errors"
	"io"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// objects contains the objects of a cluster by kind.
type objects struct {
	text        []byte // in YAML
	deployments []*apps.Deployment
	services    []*core.Service
	configs     []*core.ConfigMap
	secrets     []*core.Secret
	accounts    []*core.ServiceAccount
	namespaces  []*core.Namespace
	budgets     []*policy.PodDisruptionBudget
	scalers     []*autoscaling.HorizontalPodAutoscaler
	policies    []*networking.NetworkPolicy
	monitors    []*monitoring.ServiceMonitor
}

// decoder returns a strict decoder of the types in use, which rejects unknown and duplicate fields.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, autoscaling.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme,
		monitoring.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// decode adds the objects in a YAML text.
func (o *objects) decode(t *testing.T, name string, text []byte) {
	t.Helper()
	o.text = append(append(o.text, "---\n"...), text...)
	strict := decoder(t)
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	for {
		document := make([]byte, len(text)+1)
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if isEmpty(document[:n]) {
			continue
		}
		object, _, err := strict.Decode(document[:n], nil, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, document[:n])
			continue
		}
		o.add(t, name, object)
	}
}

// isEmpty reports whether a document only consists of comments and blank lines.
func isEmpty(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

func (o *objects) add(t *testing.T, name string, object runtime.Object) {
	t.Helper()
	switch object := object.(type) {
	case *apps.Deployment:
		o.deployments = append(o.deployments, object)
	case *core.Service:
		o.services = append(o.services, object)
	case *core.ConfigMap:
		o.configs = append(o.configs, object)
	case *core.Secret:
		o.secrets = append(o.secrets, object)
	case *core.ServiceAccount:
		o.accounts = append(o.accounts, object)
	case *core.Namespace:
		o.namespaces = append(o.namespaces, object)
	case *policy.PodDisruptionBudget:
		o.budgets = append(o.budgets, object)
	case *autoscaling.HorizontalPodAutoscaler:
		o.scalers = append(o.scalers, object)
	case *networking.NetworkPolicy:
		o.policies = append(o.policies, object)
	case *monitoring.ServiceMonitor:
		o.monitors = append(o.monitors, object)
	default:
		t.Errorf("%s: nothing is known of a %T", name, object)
	}
}

// TestDecodingIsStrict checks that errors are found that a strict cluster would reject.
func TestDecodingIsStrict(t *testing.T) {
	for name, text := range map[string]string{
		"unknown field": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatta: {}\n",
		"twice":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\ndata: {}\n",
		"other type":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}\n",
		"other version": "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n",
		"monitor": "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\nspec: " +
			"{endpoint: []}\n",
	} {
		if _, _, err := decoder(t).Decode([]byte(text), nil, nil); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
