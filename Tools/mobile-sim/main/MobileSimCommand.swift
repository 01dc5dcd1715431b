import ArgumentParser
import MobileSim

@main
enum MobileSimCommand {
    static func main() async {
        await SimCommand.main()
    }
}
