module jacquard.invalid/toolchain/charts

go 1.26

require (
	github.com/SlinkyProject/slurm-operator v1.1.0
	github.com/cert-manager/cert-manager v1.19.2
	github.com/topolvm/topolvm v0.41.0
	go.universe.tf/metallb v0.16.1
	sigs.k8s.io/cluster-api-operator v0.27.0
	sigs.k8s.io/external-dns v0.22.0
	sigs.k8s.io/kueue v0.15.2
	sigs.k8s.io/lws v0.9.0
	sigs.k8s.io/node-feature-discovery v0.19.0
)
