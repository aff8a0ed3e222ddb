module jacquard.invalid/toolchain/former-charts

go 1.26

require sigs.k8s.io/node-feature-discovery v0.18.3
