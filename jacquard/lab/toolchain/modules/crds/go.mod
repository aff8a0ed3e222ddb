module jacquard.invalid/toolchain/crds

go 1.26

require (
	github.com/clastix/cluster-api-control-plane-provider-kamaji v0.20.0
	github.com/metal3-io/baremetal-operator v0.13.2
)
