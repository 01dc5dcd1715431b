public import ArgumentParser
internal import BuildVersion

/// The command `mobile-sim`.
public struct SimCommand: AsyncParsableCommand {
    /// The help of the command, and its subcommands `run` and `demo`.
    public static let configuration = CommandConfiguration(
        commandName: "mobile-sim",
        abstract: "Simulate phones whose apps use MobileClient, against a running stack.",
        discussion: """
            Start the stack by `make up`, which writes .run/stack.env; mobile-sim finds the API and the emulator there, or in \
            IDENTITY_API_URL and FCM_URL.

              mobile-sim demo                                  one story, told step by step
              mobile-sim run --phones 20 --minutes 2           a look at a crowd
              mobile-sim run --phones 1000 --report .run/sim   the whole of it, with a page to open in a browser

            Each phone is an app of its own, with a folder of its own, that calls the public API of MobileClient as an app on iOS does. \
            What is simulated is everything around it: the person, the network, the push service, and the system that ends the app.
            """, version: HeliographVersion.current,
        subcommands: [RunCommand.self, DemoCommand.self])

    /// Creates the command; the arguments are parsed into it.
    public init() {}
}
