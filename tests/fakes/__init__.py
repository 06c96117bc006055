"""Peers on loopback that speak the wire protocol strictly. They record what they receive."""
