package skew;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;

/** A test that is repeated on the weak database of a {@link Skew} extension, with another seed each time. */
@TestTemplate
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface SkewTest {
    /** How often the body runs. Runs after a failing one are skipped. */
    int runs() default 100;

    /** The first seed. SKEW_SEED in the environment runs that one alone. */
    long seed() default 1;
}
