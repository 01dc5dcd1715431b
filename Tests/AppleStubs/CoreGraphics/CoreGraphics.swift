// The type of Apple's Core Graphics that Shared/MobileClient/Apple uses.
public final class CGImage {}
